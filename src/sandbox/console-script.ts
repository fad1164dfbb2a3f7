/**
 * The script of the console's page. It fetches the page anew when the sandbox says that something has changed, and
 * takes over the parts that show state. A tab in the background lets its stream go: a browser opens only six
 * connections to one host, and payers' pages want some.
 */
export const CONSOLE_SCRIPT = `
'use strict';
const line = document.getElementById('status');
let source, again, busy = false, stale = false;

const say = (text) => { if (line.textContent !== text) line.textContent = text; };

// What is the same stays the very element it was, with its focus.
const renew = (part, fresh) => {
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
    if (fresh) renew(part, fresh);
  }
  if (!action || document.activeElement !== document.body) return;
  document.querySelector('form[action="' + CSS.escape(action) + '"] button')?.focus({ preventScroll: true });
};

const look = async () => {
  stale = true;
  if (busy) return;
  busy = true;
  try {
    while (stale) {
      stale = false;
      const answer = await fetch('/_sandbox/', { signal: AbortSignal.timeout(10000) });
      if (!answer.ok) throw new Error(answer.statusText);
      show(new DOMParser().parseFromString(await answer.text(), 'text/html'));
    }
    if (source.readyState === EventSource.OPEN) say('Live.');
  } catch {
    lost();
  } finally {
    busy = false;
  }
};

const hush = (text) => {
  clearTimeout(again);
  source?.close();
  say(text);
};

// Not left to EventSource alone: it gives up for good where the answer is anything else than a stream.
const lost = () => {
  hush('Not live, trying again.');
  again = setTimeout(listen, 1000);
};

const listen = () => {
  if (document.hidden) return;
  hush(line.textContent);
  source = new EventSource('/_sandbox/events');
  source.onopen = source.onmessage = look;
  source.onerror = lost;
};

document.addEventListener('visibilitychange', () => (document.hidden ? hush('Not live.') : listen()));
listen();
`;
