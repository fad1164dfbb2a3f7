import type { FastifyReply } from 'fastify';
import type { ControlPlane, TransactionSummary } from './control';
import { FAULTS, type RequestCounts } from './faults';
import { html, hashedElement, sendPage, type Html } from './html';
import type { Transition } from './transition-log';

const TRANSACTION_TABLE_HEADERS = ['Created', 'Kind', 'Id', 'External id', 'Method', 'Amount', 'Status', ''];
const TRANSITION_TABLE_HEADERS = ['Time', 'Kind', 'Id', 'From', 'To'];

/**
 * Script of the console page. It fetches the page when the event stream opens and after each event. From the fetched
 * page, it updates the elements that have the attribute `data-live`. In a hidden tab it closes the stream, because a
 * browser allows only six HTTP/1.1 connections per host.
 */
const CONSOLE_SCRIPT = hashedElement(
  'script',
  `
'use strict';
const statusElement = document.getElementById('status');
let source, retryTimer, isBusy = false, isStale = false;

const setStatus = (text) => { if (statusElement.textContent !== text) statusElement.textContent = text; };

const show = (page) => {
  const action = document.activeElement?.form?.getAttribute('action');
  for (const part of document.querySelectorAll('[data-live]')) {
    const newPart = page.getElementById(part.id);
    if (newPart && !part.isEqualNode(newPart)) part.replaceChildren(...newPart.childNodes);
  }
  if (!action || document.activeElement !== document.body) return;
  document.querySelector('form[action="' + CSS.escape(action) + '"] button')?.focus({ preventScroll: true });
};

const refresh = async () => {
  isStale = true;
  if (isBusy) return;
  isBusy = true;
  try {
    while (isStale) {
      isStale = false;
      const response = await fetch('/_sandbox/', { signal: AbortSignal.timeout(10000) });
      if (!response.ok) throw new Error(response.statusText);
      show(new DOMParser().parseFromString(await response.text(), 'text/html'));
    }
    if (source.readyState === EventSource.OPEN) setStatus('Live.');
  } catch {
    reconnect();
  } finally {
    isBusy = false;
  }
};

const disconnect = (text) => {
  clearTimeout(retryTimer);
  source?.close();
  setStatus(text);
};

// Open a new EventSource, because EventSource does not retry after an HTTP error.
const reconnect = () => {
  disconnect('Not live: reconnecting.');
  retryTimer = setTimeout(listen, 1000);
};

const listen = () => {
  if (document.hidden) return;
  disconnect(statusElement.textContent);
  source = new EventSource('/_sandbox/events');
  source.onopen = source.onmessage = refresh;
  source.onerror = reconnect;
};

document.addEventListener('visibilitychange', () => (document.hidden ? disconnect('Not live.') : listen()));
listen();
`,
);

/** Sends the console page. Its script updates the elements that have `data-live` and an id. */
export function sendConsole(reply: FastifyReply, controlPlane: ControlPlane): FastifyReply {
  const body = html`<h1>Sandbox</h1>
    <p class="soft"><span id="status" role="status">Not live.</span> <a href="/_sandbox/">Refresh</a></p>
    <div id="traffic" data-live>${trafficSummaryHtml(controlPlane.counts())}</div>
    <h2>Clock</h2>
    <div id="clock" data-live><p>${clockOffsetText(controlPlane.aheadMs())}</p></div>
    <form method="post" action="/_sandbox/clock/advance">
      <button name="ms" value="5000">Advance 5 s</button>
      <button name="ms" value="60000">Advance 1 min</button>
      <button name="ms" value="3600000">Advance 1 h</button>
    </form>
    <h2>Inject a fault into the next requests</h2>
    ${FAULT_FORM}
    <div id="faults" data-live>${pendingFaultsHtml(controlPlane)}</div>
    <h2>Transitions</h2>
    <div class="feed">
      ${renderTable('transitions', TRANSITION_TABLE_HEADERS, controlPlane.transitions().map(transitionRow))}
    </div>
    <h2>Transactions</h2>
    ${renderTable('transactions', TRANSACTION_TABLE_HEADERS, controlPlane.transactions().map(transactionRow))}
    <h2>Reset</h2>
    <form method="post" action="/_sandbox/reset"><button>Remove transactions and faults</button></form>`;
  return sendPage(reply, { title: 'Sandbox', body, isWide: true, script: CONSOLE_SCRIPT });
}

const renderTable = (tableBodyId: string, headers: readonly string[], rows: readonly Html[]): Html =>
  html`<div class="scroll">
    <table>
      <thead>
        <tr>
          ${headers.map((header) => html`<th>${header}</th>`)}
        </tr>
      </thead>
      <tbody id="${tableBodyId}" data-live>
        ${rows}
      </tbody>
    </table>
  </div>`;

function trafficSummaryHtml({ payment, payout }: RequestCounts): Html {
  return html`<p>
    Payments: ${payment.created} created; requests: ${payment.creates} creates, ${payment.lookups} lookups,
    ${payment.confirms} confirms. Payouts: ${payout.created} created; requests: ${payout.creates} creates,
    ${payout.lookups} lookups.
  </p>`;
}

function clockOffsetText(aheadMs: number): string {
  const aheadSeconds = Math.round(aheadMs / 1000);
  return `${Math.floor(aheadSeconds / 60)} min ${aheadSeconds % 60} s ahead of the real time.`;
}

const dropdownField = (label: string, fieldName: string, optionTexts: readonly string[]): Html =>
  html`<label
    >${label}<select name="${fieldName}">
      ${optionTexts.map((optionText) => html`<option>${optionText}</option>`)}
    </select></label
  >`;

const FAULT_FORM = html`<form method="post" action="/_sandbox/faults">
  ${dropdownField('Operation', 'operation', ['create', 'lookup', 'confirm'])}
  ${dropdownField('Resource (empty: both)', 'resource', ['', 'payment', 'payout'])}
  ${dropdownField('Fault', 'fault', FAULTS)}
  <label>Number of requests <input name="times" type="number" min="1" value="1" /></label>
  <label>Delay in ms (for delay only) <input name="ms" type="number" min="0" value="1000" /></label>
  <label>HTTP status (for status only) <input name="status" type="number" value="503" /></label>
  <button>Inject</button>
</form>`;

function pendingFaultsHtml(controlPlane: ControlPlane): Html[] {
  return controlPlane
    .faults()
    .map(
      ({ fault, times, resource, operation }) =>
        html`<p><small>Pending: ${fault} for ${times} ${resource} ${operation} request(s)</small></p>`,
    );
}

function transactionRow(transaction: TransactionSummary): Html {
  const { kind, transactionId, externalId, type, amount, status, state, error, createDate } = transaction;
  const { value, currency, received } = amount;
  const statusParts = [status, state, error?.code, received && `received ${received}`].filter(Boolean);
  const isOpen = status === 'pending' || status === 'processing';
  return html`<tr>
    <td>${createDate.slice(11, 19)}</td>
    <td>${kind}</td>
    <td class="id">${transactionId}</td>
    <td class="id">${externalId ?? ''}</td>
    <td>${type}</td>
    <td>${value} ${currency}</td>
    <td class="status">${statusParts.join(', ')}</td>
    <td>${isOpen ? actionButtons(transaction) : undefined}</td>
  </tr> `;
}

const transitionRow = ({
  atMs,
  transactionKind,
  transactionId,
  statusBefore,
  statusAfter,
}: Transition): Html =>
  html`<tr>
    <td>${new Date(atMs).toISOString().slice(11, 19)}</td>
    <td>${transactionKind}</td>
    <td class="id">${transactionId}</td>
    <td class="status">${statusBefore ?? ''}</td>
    <td class="status">${statusAfter}</td>
  </tr> `;

function actionButtons({ kind, transactionId }: TransactionSummary): Html[] {
  const actionNames = kind === 'payment' ? ['settle', 'decline', 'underpay'] : ['settle', 'decline'];
  return actionNames.map(
    (actionName) =>
      html`<form method="post" action="/_sandbox/transactions/${transactionId}/${actionName}">
        <button>${actionName}</button>
      </form> `,
  );
}
