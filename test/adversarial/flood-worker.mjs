// A thread that asks one question again and again, as cheaply as can be: what it takes is missing to the gateway beside it.
// Open: so many questions a second come, however many are still open; those who wait too long give up.
// Closed: so many callers ask, each the next question after its answer.
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
import { parentPort } from 'node:worker_threads';

/** More at once are not opened: the machine has only so many ports and file descriptors. */
const MAX_CONNECTIONS = 4000;
const TICK_MS = 5;

function newCounts() {
  return { useful: 0, refused: 0, gaveUp: 0, failed: 0, notSent: 0, sent: 0, slowestMs: 0 };
}

/** Plays one flood, and tells what came of it. */
function flood({ host, port, request, ms, warmUpMs, rate, callers, patienceMs }) {
  const idle = [];
  const open = new Set();
  let counts = newCounts();
  let asked = 10_000_000;
  let isOver = false;

  function answered(connection, head) {
    clearTimeout(connection.patience);
    const took = performance.now() - connection.askedAt;
    connection.askedAt = 0;
    if (head.startsWith('HTTP/1.1 200') && connection.text.includes('{"data"')) {
      counts.useful += 1;
      counts.slowestMs = Math.max(counts.slowestMs, took);
    } else if (/^HTTP\/1.1 (503|429)/.test(head)) counts.refused += 1;
    else counts.failed += 1;
    connection.text = '';
    if (isOver) return connection.socket.destroy();
    if (callers) ask(connection);
    else idle.push(connection);
  }

  function heard(connection, chunk) {
    connection.text += chunk.toString('latin1');
    const headEnd = connection.text.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = connection.text.slice(0, headEnd);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (connection.text.length >= headEnd + 4 + length) answered(connection, head);
  }

  function gone(connection) {
    open.delete(connection);
    clearTimeout(connection.patience);
    const place = idle.indexOf(connection);
    if (place >= 0) idle.splice(place, 1);
    if (connection.askedAt > 0 && !connection.gaveUp) counts.failed += 1;
    if (callers && !isOver) ask(newConnection());
  }

  function newConnection() {
    const socket = connect({ host, port, noDelay: true });
    const connection = { socket, text: '', askedAt: 0, gaveUp: false, patience: undefined };
    open.add(connection);
    socket.on('data', (chunk) => heard(connection, chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => gone(connection));
    return connection;
  }

  function ask(connection) {
    counts.sent += 1;
    connection.askedAt = performance.now();
    connection.socket.write(request.replace('########', String((asked += 1))));
    connection.patience = setTimeout(() => {
      counts.gaveUp += 1;
      connection.gaveUp = true;
      connection.socket.destroy();
    }, patienceMs);
  }

  if (callers) for (let count = 0; count < callers; count += 1) ask(newConnection());
  const startedAt = performance.now();
  let due = 0;
  let last = startedAt;
  const ticking = setInterval(() => {
    const now = performance.now();
    due += callers ? 0 : ((now - last) * rate) / 1000;
    last = now;
    for (; due >= 1; due -= 1) {
      const connection = idle.pop() ?? (open.size < MAX_CONNECTIONS ? newConnection() : undefined);
      if (connection) ask(connection);
      else counts.notSent += 1;
    }
  }, TICK_MS);
  setTimeout(() => {
    counts = newCounts();
  }, warmUpMs);
  return new Promise((resolve) => {
    setTimeout(() => {
      isOver = true;
      clearInterval(ticking);
      const measured = counts;
      for (const { socket } of open) socket.destroy();
      resolve({ ...measured, seconds: (ms - warmUpMs) / 1000 });
    }, ms);
  });
}

parentPort.on('message', async (options) => parentPort.postMessage(await flood(options)));
