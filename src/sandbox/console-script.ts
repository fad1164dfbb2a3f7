/**
 * The script of the console page. After each event it fetches the page and updates the elements that show state. Hidden
 * tabs close their event stream, because a browser opens only six connections to one host.
 */
export const CONSOLE_SCRIPT = `
'use strict';
const status = document.getElementById('status');
let source, retryTimer, busy = false, stale = false;

const setStatus = (text) => { if (status.textContent !== text) status.textContent = text; };

// Elements that have not changed stay in place and keep the focus.
const replaceChildren = (part, fresh) => {
  const rest = [...part.children];
  const wanted = [...fresh.children].map((one) => {
    const place = rest.findIndex((old) => old.isEqualNode(one));
    return place < 0 ? one : rest.splice(place, 1)[0];
  });
  for (const old of rest) old.remove();
  wanted.forEach((one, place) => {
    if (part.children[place] !== one) part.insertBefore(one, part.children[place] ?? null);
  });
};

const show = (page) => {
  const action = document.activeElement?.form?.getAttribute('action');
  for (const part of document.querySelectorAll('[data-live]')) {
    const fresh = page.getElementById(part.id);
    if (fresh) replaceChildren(part, fresh);
  }
  if (!action || document.activeElement !== document.body) return;
  document.querySelector('form[action="' + CSS.escape(action) + '"] button')?.focus({ preventScroll: true });
};

const refresh = async () => {
  stale = true;
  if (busy) return;
  busy = true;
  try {
    while (stale) {
      stale = false;
      const response = await fetch('/_sandbox/', { signal: AbortSignal.timeout(10000) });
      if (!response.ok) throw new Error(response.statusText);
      show(new DOMParser().parseFromString(await response.text(), 'text/html'));
    }
    if (source.readyState === EventSource.OPEN) setStatus('Live.');
  } catch {
    reconnect();
  } finally {
    busy = false;
  }
};

const disconnect = (text) => {
  clearTimeout(retryTimer);
  source?.close();
  setStatus(text);
};

// EventSource does not retry after a response that is not an event stream.
const reconnect = () => {
  disconnect('Not live: reconnecting.');
  retryTimer = setTimeout(listen, 1000);
};

const listen = () => {
  if (document.hidden) return;
  disconnect(status.textContent);
  source = new EventSource('/_sandbox/events');
  source.onopen = source.onmessage = refresh;
  source.onerror = reconnect;
};

document.addEventListener('visibilitychange', () => (document.hidden ? disconnect('Not live.') : listen()));
listen();
`;
