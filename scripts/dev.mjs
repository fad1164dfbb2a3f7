// Runs the gateway and restarts it after changes of the sources. It polls the sources, because file watchers lose files
// that editors replace.
import { spawn } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { setInterval } from 'node:timers';
import { build, isFresh } from './build.mjs';

const program = path.join(import.meta.dirname, '../bin/paygraph.mjs');
const start = () => spawn(process.execPath, [program, 'start'], { stdio: 'inherit' });

let gateway = start();
let failedAt = 0;

setInterval(() => {
  if (isFresh() || Date.now() - failedAt < 2000) return;
  if (!build()) {
    failedAt = Date.now();
    return;
  }
  gateway.once('exit', () => {
    gateway = start();
  });
  gateway.kill('SIGTERM');
}, 500);

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    gateway.once('exit', (code) => process.exit(code ?? 0));
    gateway.kill(signal);
  });
}
