// A thread that sends one request to a gateway repeatedly. It needs little CPU time, which the gateway needs too.
// Open loop: it sends `rate` requests per second, however many are in flight.
// Closed loop: each of `callers` callers sends its next request after the response to its previous request.
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
import { parentPort } from 'node:worker_threads';

/** Maximum number of open connections, because the machine has a limited number of ports and file descriptors. */
const MAX_CONNECTIONS = 4000;
const TICK_MS = 5;

/**
 * useful: responses with data within the timeout; refused: status 429 or 503; timedOut: no response within the timeout;
 * failed: all other responses, and connections that closed early; notSent: no connection was free; slowestMs: longest
 * duration of a useful response.
 */
function newCounts() {
  return { useful: 0, refused: 0, timedOut: 0, failed: 0, notSent: 0, sent: 0, slowestMs: 0 };
}

/** Runs one flood. Resolves with its figures, without those of the warm-up. */
function flood({ host, port, request, ms, warmUpMs, rate, callers, timeoutMs }) {
  const idle = [];
  const open = new Set();
  let counts = newCounts();
  let requestNumber = 10_000_000;
  let isOver = false;

  function onResponse(connection, head) {
    clearTimeout(connection.timeout);
    const durationMs = performance.now() - connection.sentAt;
    connection.sentAt = 0;
    if (head.startsWith('HTTP/1.1 200') && connection.text.includes('{"data"')) {
      counts.useful += 1;
      counts.slowestMs = Math.max(counts.slowestMs, durationMs);
    } else if (/^HTTP\/1.1 (503|429)/.test(head)) counts.refused += 1;
    else counts.failed += 1;
    connection.text = '';
    if (isOver) return connection.socket.destroy();
    if (callers) sendRequest(connection);
    else idle.push(connection);
  }

  function onData(connection, chunk) {
    connection.text += chunk.toString('latin1');
    const headEnd = connection.text.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = connection.text.slice(0, headEnd);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (connection.text.length >= headEnd + 4 + length) onResponse(connection, head);
  }

  function onClose(connection) {
    open.delete(connection);
    clearTimeout(connection.timeout);
    const index = idle.indexOf(connection);
    if (index >= 0) idle.splice(index, 1);
    if (connection.sentAt > 0 && !connection.timedOut) counts.failed += 1;
    if (callers && !isOver) sendRequest(newConnection());
  }

  function newConnection() {
    const socket = connect({ host, port, noDelay: true });
    const connection = { socket, text: '', sentAt: 0, timedOut: false, timeout: undefined };
    open.add(connection);
    socket.on('data', (chunk) => onData(connection, chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => onClose(connection));
    return connection;
  }

  function sendRequest(connection) {
    counts.sent += 1;
    connection.sentAt = performance.now();
    connection.socket.write(request.replace('########', String((requestNumber += 1))));
    connection.timeout = setTimeout(() => {
      counts.timedOut += 1;
      connection.timedOut = true;
      connection.socket.destroy();
    }, timeoutMs);
  }

  if (callers) for (let count = 0; count < callers; count += 1) sendRequest(newConnection());
  const startedAt = performance.now();
  let due = 0;
  let last = startedAt;
  const ticker = setInterval(() => {
    const now = performance.now();
    due += callers ? 0 : ((now - last) * rate) / 1000;
    last = now;
    for (; due >= 1; due -= 1) {
      const connection = idle.pop() ?? (open.size < MAX_CONNECTIONS ? newConnection() : undefined);
      if (connection) sendRequest(connection);
      else counts.notSent += 1;
    }
  }, TICK_MS);
  setTimeout(() => {
    counts = newCounts();
  }, warmUpMs);
  return new Promise((resolve) => {
    setTimeout(() => {
      isOver = true;
      clearInterval(ticker);
      const measured = counts;
      for (const { socket } of open) socket.destroy();
      resolve({ ...measured, seconds: (ms - warmUpMs) / 1000 });
    }, ms);
  });
}

parentPort.on('message', async (options) => parentPort.postMessage(await flood(options)));
