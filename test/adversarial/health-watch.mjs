// A thread that asks the gateway how it is, again and again, and keeps how long the answers took. A thread of its own: what
// the attackers have to do must not be taken for the gateway's slowness.
import { request, Agent } from 'node:http';
import { performance } from 'node:perf_hooks';
import { parentPort, workerData } from 'node:worker_threads';

const PAUSE_MS = 10;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let times = [];
let failures = 0;
let isReady = false;

function ask() {
  const startedAt = performance.now();
  let isDone = false;
  const done = (isGood) => {
    if (isDone) return;
    isDone = true;
    if (!isReady) {
      isReady = true;
      parentPort.postMessage('ready');
    } else if (isGood) times.push(performance.now() - startedAt);
    else failures += 1;
    setTimeout(ask, PAUSE_MS);
  };
  const asked = request(`${workerData.url}/healthz`, { agent }, (response) => {
    response.resume();
    response.on('end', () => done(response.statusCode === 200));
  });
  asked.on('error', () => done(false));
  asked.end();
}

parentPort.on('message', () => {
  const worst = times.reduce((most, time) => Math.max(most, time), 0);
  parentPort.postMessage({ worstMs: worst, asked: times.length, failures });
  times = [];
  failures = 0;
});
ask();
