// npm run example:checkout: builds the page and serves it at PORT (default 4100). PAYGRAPH_URL is the URL of the gateway,
// which has to allow the page's origin (CORS_ORIGINS). If it is not set, a gateway with its sandbox is started.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import process from 'node:process';
import { build } from 'esbuild';

const here = import.meta.dirname;

/** Builds the page. Returns the content type and the content of each file by its path. */
async function pageFiles(gateway) {
  const { outputFiles } = await build({
    entryPoints: { page: path.join(here, 'src/main.tsx') },
    outdir: here,
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2023',
    jsx: 'automatic',
    define: { GATEWAY_URL: JSON.stringify(gateway), 'globalThis.__DEV__': 'false' },
  });
  const [script, style] = ['.js', '.css'].map(
    (end) => outputFiles.find((file) => file.path.endsWith(end)).text,
  );
  return {
    '/': ['text/html; charset=utf-8', await readFile(path.join(here, 'index.html'))],
    '/page.js': ['text/javascript; charset=utf-8', script],
    '/page.css': ['text/css; charset=utf-8', style],
  };
}

/** Returns a content security policy with which the page may connect only to the gateway. */
const policyFor = (gateway) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    'img-src data:',
    `connect-src ${gateway} ${gateway.replace(/^http/, 'ws')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** Starts a gateway with the embedded sandbox on free ports. It ends with this process. Returns its URL. */
async function startGateway(origin) {
  const program = path.join(here, '../../bin/paygraph.mjs');
  const env = { ...process.env, PORT: '0', SANDBOX_PORT: '0', CORS_ORIGINS: origin, LOG_LEVEL: 'warn' };
  const gateway = spawn(process.execPath, [program, 'start'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => gateway.kill());
  gateway.once('exit', (code) => process.exit(code ?? 1));
  let said = '';
  for (;;) {
    const [chunk] = await once(gateway.stdout, 'data');
    said += chunk;
    const [, url] = /GraphQL +(http\S+)\/graphql/.exec(said) ?? [];
    if (!url) continue;
    gateway.stdout.resume();
    return url;
  }
}

let files = {};
let headers = {};
const server = createServer((request, response) => {
  const [type, body] = files[new URL(request.url, 'http://page').pathname] ?? [];
  response.writeHead(type ? 200 : 404, { ...headers, 'content-type': type ?? 'text/plain' });
  response.end(body ?? 'Not found');
});
server.listen(Number(process.env.PORT ?? 4100), '127.0.0.1');
await once(server, 'listening');
const origin = `http://127.0.0.1:${server.address().port}`;

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(0));
const gateway = process.env.PAYGRAPH_URL ?? (await startGateway(origin));
files = await pageFiles(gateway);
headers = { 'content-security-policy': policyFor(gateway), 'cache-control': 'no-store' };
process.stdout.write(`The checkout is at ${origin}/ and uses the gateway at ${gateway}.\n`);
