import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { closeAfterTests } from '../../support/gateway';
import { temporaryFolder } from '../../support/manifests';
import { sample, TOP } from './samples';

interface Subgraphs {
  payments: string;
  orders: string;
}

/** Writes the samples of docs/federation.md, with the URLs of these subgraphs, to a folder. Returns its path. */
function folderOfSamples({ payments, orders }: Subgraphs): string {
  const folder = temporaryFolder();
  symlinkSync(path.join(TOP, 'node_modules'), path.join(folder, 'node_modules'));
  copyFileSync(path.join(TOP, 'subgraph.graphql'), path.join(folder, 'subgraph.graphql'));
  for (const name of ['orders.graphql', 'compose.mjs', 'router.mjs']) {
    const code = sample(name)
      .replace('https://gateway.example/graphql', payments)
      .replace('https://orders.example/graphql', orders)
      .replace('port: 4000', 'port: 0');
    writeFileSync(path.join(folder, name), code);
  }
  return folder;
}

/** Composes the supergraph and starts the router with the samples of docs/federation.md. Returns its URL. */
export async function startRouter(subgraphs: Subgraphs): Promise<string> {
  const folder = folderOfSamples(subgraphs);
  const composed = spawnSync(process.execPath, ['compose.mjs'], { cwd: folder, encoding: 'utf8' });
  if (composed.status !== 0) throw new Error(composed.stderr);
  const router = spawn(process.execPath, ['router.mjs'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise<void>((resolve) => router.once('exit', () => resolve()));
  const stop = (): boolean => router.kill('SIGKILL');
  // Kill the router even if the test process ends early.
  process.once('exit', stop);
  closeAfterTests({
    close: async () => {
      stop();
      await exited;
    },
  });
  let output = '';
  return new Promise((resolve, reject) => {
    for (const stream of [router.stdout, router.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const [, url] = /listens at (http\S+)/.exec(output) ?? [];
        if (url) resolve(url);
      });
    void exited.then(() => reject(new Error(`The router has ended: ${output}`)));
  });
}
