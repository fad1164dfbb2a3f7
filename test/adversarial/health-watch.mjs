// A thread that polls /healthz and records how long the responses took. It is a thread of its own, so that work of the
// attackers is not counted as slowness of the gateway.
import { request, Agent } from 'node:http';
import { performance } from 'node:perf_hooks';
import { parentPort, workerData } from 'node:worker_threads';

const PAUSE_MS = 10;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let durationsMs = [];
let failures = 0;
let isReady = false;

function poll() {
  const startedAt = performance.now();
  let isDone = false;
  const done = (isHealthy) => {
    if (isDone) return;
    isDone = true;
    if (!isReady) {
      isReady = true;
      parentPort.postMessage('ready');
    } else if (isHealthy) durationsMs.push(performance.now() - startedAt);
    else failures += 1;
    setTimeout(poll, PAUSE_MS);
  };
  const healthCheck = request(`${workerData.url}/healthz`, { agent }, (response) => {
    response.resume();
    response.on('end', () => done(response.statusCode === 200));
  });
  healthCheck.on('error', () => done(false));
  healthCheck.end();
}

parentPort.on('message', () => {
  const worst = durationsMs.reduce((most, time) => Math.max(most, time), 0);
  parentPort.postMessage({ worstMs: worst, polls: durationsMs.length, failures });
  durationsMs = [];
  failures = 0;
});
poll();
