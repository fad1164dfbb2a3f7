import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { until } from '../../support/latch';
import { closeAfterTests } from '../../support/gateway';
import { freePort } from '../../support/free-port';
import { openFolder, textOf } from './files';

export const CONFIGURATION = 'deploy/nginx/paygraph.conf';

/** Matches the keepalive_timeout of the upstream, in seconds. */
export const UPSTREAM_KEEPALIVE = /(?<=^upstream [^}]*)keepalive_timeout (\d+)s;/m;

/** Writes a main configuration that includes `conf`, with one process and all files in `folder`. Returns its path. */
function writeConf(folder: string, conf: string): string {
  const file = path.join(folder, 'paygraph.conf');
  writeFileSync(file, conf);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const places = temporary.map((name) => `${name}_temp_path ${path.join(folder, name)};`);
  const main = path.join(folder, 'nginx.conf');
  writeFileSync(
    main,
    `daemon off; master_process off; pid ${path.join(folder, 'pid')};
    events {} http { ${places.join(' ')} include ${file}; }`,
  );
  return main;
}

/** Returns the exit code of `nginx -t` for the configuration with TLS enabled as its comments describe. */
export function testTlsConfiguration(): number | null {
  const folder = openFolder();
  const [key, certificate] = [path.join(folder, 'tls.key'), path.join(folder, 'tls.crt')];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=gateway.example'];
  execFileSync('openssl', [...request, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  const conf = textOf(CONFIGURATION)
    .replace('listen 8080;', '')
    .replaceAll('#tls ', '')
    .replace('/etc/nginx/tls/tls.key', key)
    .replace('/etc/nginx/tls/tls.crt', certificate)
    .replaceAll(/gateway-\d/g, '127.0.0.1');
  return spawnSync('nginx', ['-t', '-p', folder, '-c', writeConf(folder, conf)], { stdio: 'ignore' }).status;
}

/** Starts nginx with the project's configuration, but other addresses, and `keepaliveSeconds` if given. */
export async function startNginx(
  gateways: readonly [string, string],
  keepaliveSeconds?: number,
): Promise<{ url: string; log(): string }> {
  const folder = openFolder();
  const port = await freePort();
  const conf = textOf(CONFIGURATION)
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replace(UPSTREAM_KEEPALIVE, (line, seconds) => line.replace(seconds, `${keepaliveSeconds ?? seconds}`))
    .replace(/gateway-(\d):4000/g, (_, number) => new URL(gateways[Number(number) - 1]!).host);
  mkdirSync(path.join(folder, 'logs'));
  const logFile = path.join(folder, 'logs/out');
  // A file, because nginx opens /dev/stdout by name, which fails for a socket.
  const out = openSync(logFile, 'a');
  const child = spawn('nginx', ['-p', folder, '-c', writeConf(folder, conf)], {
    stdio: ['ignore', out, out],
  });
  const ended = once(child, 'exit');
  closeAfterTests({
    close: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  });
  const url = `http://127.0.0.1:${port}`;
  const statusOrExit = () =>
    fetch(`${url}/healthz`).then(
      ({ status }) => status,
      () => child.exitCode,
    );
  await until(statusOrExit, (status) => status !== null);
  return { url, log: () => readFileSync(logFile, 'utf8') };
}
