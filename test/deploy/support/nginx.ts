import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { until } from '../../support/latch';
import { closeAfterTests } from '../../support/gateway';
import { freePort } from '../../support/free-port';
import { openFolder, textOf } from './files';

export const CONFIGURATION = 'deploy/nginx/paygraph.conf';

/** The line of the upstream that says for how many seconds idle connections are kept. */
export const UPSTREAM_KEEPALIVE = /(?<=^upstream [^}]*)keepalive_timeout (\d+)s;/m;

/** What nginx wants around a file of conf.d; one process, which writes nowhere but here. */
function around(folder: string, conf: string): string {
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

/** The exit code of `nginx -t` for the project's configuration with TLS switched on as its comments say. */
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
  return spawnSync('nginx', ['-t', '-p', folder, '-c', around(folder, conf)], { stdio: 'ignore' }).status;
}

/** nginx with the project's configuration, in which nothing is changed but addresses. */
export interface Nginx {
  /** Without a slash at its end. */
  url: string;
  /** All that it has logged. */
  log(): string;
}

/**
 * @param gateways their addresses, for gateway-1 and gateway-2
 * @param keepaliveSeconds for how long idle connections to them are kept
 */
export async function startNginx(
  gateways: readonly [string, string],
  keepaliveSeconds?: number,
): Promise<Nginx> {
  const folder = openFolder();
  const port = await freePort();
  const conf = gateways.reduce(
    (text, gateway, at) => text.replace(`gateway-${at + 1}:4000`, new URL(gateway).host),
    textOf(CONFIGURATION)
      .replace('listen 8080;', `listen 127.0.0.1:${port};`)
      .replace(UPSTREAM_KEEPALIVE, (line, seconds) =>
        line.replace(seconds, `${keepaliveSeconds ?? seconds}`),
      ),
  );
  mkdirSync(path.join(folder, 'logs'));
  const logFile = path.join(folder, 'logs/out');
  // A file, as nginx opens /dev/stdout by its name, which a socket does not allow.
  const out = openSync(logFile, 'a');
  const child = spawn('nginx', ['-p', folder, '-c', around(folder, conf)], { stdio: ['ignore', out, out] });
  const ended = once(child, 'exit');
  closeAfterTests({
    close: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  });
  const url = `http://127.0.0.1:${port}`;
  await until(
    () =>
      fetch(`${url}/healthz`).then(
        ({ status }) => status,
        () => child.exitCode,
      ),
    (status) => status !== null,
  );
  return { url, log: () => readFileSync(logFile, 'utf8') };
}
