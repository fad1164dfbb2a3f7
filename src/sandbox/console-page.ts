import type { FastifyReply } from 'fastify';
import { CONSOLE_SCRIPT } from './console-script';
import type { SandboxControl, TransactionSummary } from './control';
import { FAULT_KINDS, type Counts } from './fault-injector';
import { html, inline, sendPage, type Html } from './html';

const SHOWN = 50;
const COLUMNS = ['Created', 'Kind', 'Id', 'External id', 'Method', 'Amount', 'Status', ''];
const SCRIPT = inline('script', CONSOLE_SCRIPT);

/** Elements with `data-live` and an id are replaced by the page's script when the state changes. */
export function sendConsole(reply: FastifyReply, control: SandboxControl): FastifyReply {
  const body = html`<h1>Sandbox</h1>
    <p class="soft"><span id="status" role="status">Not live.</span> <a href="/_sandbox/">Refresh</a></p>
    <div id="traffic" data-live>${traffic(control.counts())}</div>
    <h2>Clock</h2>
    <div id="clock" data-live><p>${clockText(control.ahead())}</p></div>
    <form method="post" action="/_sandbox/clock/advance">
      <button name="ms" value="5000">5 s on</button> <button name="ms" value="60000">1 min on</button>
      <button name="ms" value="3600000">1 h on</button>
    </form>
    <h2>Make the next requests fail</h2>
    ${faultForm()}
    <div id="faults" data-live>${pendingFaults(control)}</div>
    <h2>Transactions</h2>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            ${COLUMNS.map((name) => html`<th>${name}</th>`)}
          </tr>
        </thead>
        <tbody id="transactions" data-live>
          ${control.transactions(SHOWN).map(row)}
        </tbody>
      </table>
    </div>
    <h2>Start again</h2>
    <form method="post" action="/_sandbox/reset"><button>Forget everything</button></form>`;
  return sendPage(reply, { status: 200, page: { title: 'Sandbox', body, wide: true, script: SCRIPT } });
}

function traffic(counts: Counts): Html {
  const { payment, payout } = counts;
  return html`<p>
    Payments: ${payment.created} created, ${payment.creates} creates, ${payment.lookups} lookups,
    ${payment.confirms} confirms. Payouts: ${payout.created} created, ${payout.creates} creates,
    ${payout.lookups} lookups.
  </p>`;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

function clockText(aheadMs: number): string {
  let rest = Math.round(aheadMs / 1000);
  const words: string[] = [];
  for (const [unit, seconds] of UNITS) {
    if (rest >= seconds) words.push(`${Math.floor(rest / seconds)} ${unit}`);
    rest %= seconds;
  }
  return words.length > 0 ? `${words.join(' ')} ahead of the real time.` : 'Keeps the real time.';
}

const options = (words: readonly string[]): Html[] => words.map((word) => html`<option>${word}</option>`);

function faultForm(): Html {
  return html`<form method="post" action="/_sandbox/faults">
    <label
      >Operation
      <select name="operation">
        ${options(['create', 'lookup', 'confirm'])}
      </select></label
    >
    <label
      >Of
      <select name="resource">
        <option value="">both</option>
        ${options(['payment', 'payout'])}
      </select></label
    >
    <label
      >Fault
      <select name="fault">
        ${options(FAULT_KINDS)}
      </select></label
    >
    <label>Times <input name="times" type="number" min="1" value="1" /></label>
    <label>Delay, ms <input name="ms" type="number" min="0" value="1000" /></label>
    <label>Status <input name="status" type="number" min="400" max="599" value="503" /></label>
    <button>Inject</button>
  </form>`;
}

function pendingFaults(control: SandboxControl): Html[] {
  return control
    .faults()
    .map(
      (one) =>
        html`<p><small>Pending: ${one.fault} for ${one.times} ${one.resource} ${one.operation}</small></p>`,
    );
}

function row(one: TransactionSummary): Html {
  const { value, currency, received } = one.amount;
  const status = [one.status, one.state, one.error?.code, received && `received ${received}`].filter(Boolean);
  const open = one.status === 'pending' || one.status === 'processing';
  return html`<tr>
    <td>${one.createDate.slice(11, 19)}</td>
    <td>${one.kind}</td>
    <td class="id">${one.transactionId}</td>
    <td class="id">${one.externalId ?? ''}</td>
    <td>${one.type}</td>
    <td>${value} ${currency}</td>
    <td class="status">${breakable(status.join(', '))}</td>
    <td>${open ? buttons(one) : undefined}</td>
  </tr> `;
}

/** Allows line breaks after underscores. */
const breakable = (text: string): Html[] => text.split(/(?<=_)/).map((word) => html`${word}<wbr />`);

function buttons(one: TransactionSummary): Html[] {
  const words = one.kind === 'payment' ? ['settle', 'decline', 'underpay'] : ['settle', 'decline'];
  return words.map(
    (word) =>
      html`<form method="post" action="/_sandbox/transactions/${one.transactionId}/${word}">
        <button>${word}</button>
      </form> `,
  );
}
