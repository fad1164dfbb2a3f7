import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { entry, openLog, verify } from '../audit/support/files';
import { Caller, untilAccepted } from '../support/caller';
import { CLIENT_KEY, clientKeysText } from '../support/credentials';
import { freePort } from '../support/free-port';
import { until } from '../support/latch';
import { API_KEY, SECRET_KEY, closeAfterTests, testGateway, testSandbox } from '../support/gateway';
import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { CHECKOUT } from '../support/program';
import { newKey } from '../support/harness';
import { noPostgres, openStore } from '../support/stores';
import { lastInstruction } from './support/dockerfile';
import { describeWhere, lacking, openFolder, textOf, yamlOf } from './support/files';
import { buildImage, runInImage, type Container } from './support/image';

const ENVIRONMENT = { PATH: process.env['PATH'], HOME: process.env['HOME'] };

interface Workload {
  spec: { template: { spec: { initContainers: { name: string; args?: string[] }[] } } };
}

describeWhere(lacking('bwrap'), 'The image, built from the Dockerfile and run read-only', () => {
  const entry = lastInstruction('ENTRYPOINT').words;
  const start = [...entry, ...lastInstruction('CMD').words];
  const health = JSON.parse(lastInstruction('HEALTHCHECK').text.replace(/^CMD /, '')) as string[];
  let image: string;
  let settings: Record<string, string>;
  let mounts: string[];
  let gateway: Container;
  let url: string;

  const run = (command: readonly string[]): Container => runInImage(image, command, settings, mounts);

  beforeAll(async () => {
    image = buildImage();
    const sandbox = await testSandbox();
    const PORT = String(await freePort());
    const keys = path.join(openFolder(), 'clients.json');
    writeFileSync(keys, clientKeysText([{ id: 'test', key: CLIENT_KEY }]));
    const secret = path.join(path.dirname(keys), 'secret-key');
    writeFileSync(secret, `${SECRET_KEY}\n`);
    [keys, secret].forEach((file) => chmodSync(file, 0o644));
    mounts = [keys, secret];
    settings = {
      PORT,
      SERVICE_BASE_URL: sandbox.url,
      SERVICE_API_KEY: API_KEY,
      SERVICE_SECRET_KEY_FILE: secret,
      CLIENT_KEYS_FILE: keys,
    };
    url = `http://127.0.0.1:${PORT}`;
    gateway = run(start);
    const isListening = (): boolean => gateway.output().includes('"msg":"listening"');
    await Promise.race([until(isListening), gateway.exited]);
  });

  test('contains exactly the production packages', () => {
    const app = path.join(image, 'app');
    const listing = spawnSync('npm', ['ls', '--all', '--omit=dev'], { cwd: app, stdio: 'ignore' });
    expect(listing.status).toBe(0);
    expect(existsSync(path.join(app, 'node_modules/typescript'))).toBe(false);
    expect(readdirSync(app).sort()).toEqual(['bin', 'data', 'dist', 'node_modules', 'package.json']);
  });

  test('starts a gateway that creates a payment', async () => {
    expect(gateway.output()).toContain('"msg":"listening"');
    // Repeated, because a busy journal refuses creates.
    const end = await untilAccepted(() => new Caller(url).create('payment', 'order-1'));
    expect(end).toMatchObject({ result: 'PaymentSuccess' });
  });

  test('writes its journal and its audit log to /data, and cannot write elsewhere', async () => {
    expect(readdirSync(path.join(image, 'data'))).toEqual(
      expect.arrayContaining(['paygraph.db', 'audit.log']),
    );
    const places = ['/', '/app', '/app/dist', '/tmp', '/usr/local/bin', '/data'];
    const attempts = `for (const place of ${JSON.stringify(places)})
      try { require('fs').writeFileSync(place + '/new', ''); console.log(place); } catch {}`;
    const trying = run(['node', '-e', attempts]);
    expect(await trying.exited).toBe(0);
    expect(trying.output()).toBe('/data\n');
  });

  test('passes its health check until it is stopped, exits with 0, and can then run migrate', async () => {
    expect(await run(health).exited).toBe(0);
    gateway.stop();
    expect(await gateway.exited).toBe(0);
    expect(gateway.output()).toContain('"msg":"the gateway has stopped"');
    expect(await run(health).exited).toBe(1);
    expect(await run([...entry, 'migrate']).exited).toBe(0);
  });
});

const noCompose =
  spawnSync('docker', ['compose', 'version']).status === 0 ? undefined : 'SKIPPED: no `docker compose` here';

function unitHere(): string {
  const file = path.join(openFolder(), 'paygraph.service');
  writeFileSync(file, textOf('deploy/systemd/paygraph.service').replace('/usr/bin/node', process.execPath));
  return file;
}

const VALIDATIONS: [lack: string | undefined, program: string, accepts: string, words: () => string[]][] = [
  [noCompose, 'docker', 'compose.yaml', () => ['compose', '--profile', 'watch', 'config', '--quiet']],
  [lacking('kubectl'), 'kubectl', 'the Kubernetes manifests', () => ['kustomize', 'deploy/kubernetes']],
  [lacking('systemd-analyze'), 'systemd-analyze', 'the unit file', () => ['verify', '--man=no', unitHere()]],
  // The exposure is at most 100; a unit without any sandboxing has 96.
  [
    lacking('systemd-analyze'),
    'systemd-analyze',
    'the security exposure of the unit file',
    () => ['security', '--offline=true', '--threshold=20', unitHere()],
  ],
];

for (const [lack, program, accepts, words] of VALIDATIONS)
  describeWhere(lack, program, () => {
    test(`accepts ${accepts}`, () => {
      const env = { ...ENVIRONMENT, SERVICE_BASE_URL: 'https://pay.example.com/' };
      expect(spawnSync(program, words(), { cwd: CHECKOUT, env, stdio: 'inherit' }).status).toBe(0);
    });
  });

test('The audit sidecar of Kubernetes prints every line of the audit log, even if the log is rotated', async () => {
  const folder = openFolder();
  const file = path.join(folder, 'audit.log');
  const deployment = yamlOf('deploy/kubernetes/deployment.yaml') as Workload;
  const { args = [] } =
    deployment.spec.template.spec.initContainers.find(({ name }) => name === 'audit') ?? {};
  const words = args.map((word) => word.replace('/data/', `${folder}/`));
  const following = spawn(process.execPath, ['bin/paygraph.mjs', ...words], {
    cwd: CHECKOUT,
    env: ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(following, 'close');
  let printed = '';
  following.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const { log } = openLog(file, { maxBytes: 6000, keptFileCount: 2 });
  for (let call = 0; call < 300; call += 1) {
    log.recordMutation(entry({ key: `order-${call}` }));
    // Waits before more lines are written than the rotated files hold.
    if (call > 0 && call % 12 !== 11) continue;
    await until(() => printed.includes(`"order-${call}"`));
  }
  await log.close();
  following.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  const shipped = path.join(folder, 'shipped.log');
  writeFileSync(shipped, printed);
  const { faults, notes, verifier } = await verify(shipped);
  expect([...faults, ...notes]).toEqual([]);
  expect(verifier.fileSummaries).toMatchObject([{ calls: 300 }]);
});

const guide = textOf('docs/deployment.md');

/** Returns the block of commands of the guide with this word after its language. Blocks in lists are indented. */
function commands(name: string): string {
  const [, text] = new RegExp(`^ *\`\`\`sh ${name}\n([^]*?)\n *\`\`\`$`, 'm').exec(guide) ?? [];
  if (text === undefined) throw new Error(`docs/deployment.md has no block ${name}.`);
  return text;
}

function run(text: string, cwd: string, env: Record<string, string> = {}): string {
  return execFileSync('bash', ['-euo', 'pipefail', '-c', text], {
    cwd,
    env: { ...ENVIRONMENT, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

const isRoot = process.getuid?.() === 0;

test('The commands of docs/deployment.md create every secret of compose.yaml, in a folder that only its owner can enter', () => {
  const folder = openFolder();
  const keys = { SERVICE_API_KEY: 'the-api-key', SERVICE_SECRET_KEY: 'the-secret-key' };
  const text = commands('compose-secrets');
  run(isRoot ? text : text.replace(/^chown .*$/m, ''), folder, keys);
  const { secrets } = yamlOf('compose.yaml') as { secrets: Record<string, { file: string }> };
  const made = Object.values(secrets).map(({ file }) => path.join(folder, file));
  expect(made.filter((file) => !existsSync(file) || (statSync(file).mode & 0o777) !== 0o444)).toEqual([]);
  expect(statSync(path.join(folder, 'secrets')).mode & 0o777).toBe(0o700);
  const read = (name: string): string => readFileSync(path.join(folder, 'secrets', name), 'utf8');
  const { username, password, hostname } = new URL(read('database_url').trim());
  expect([username, password, hostname]).toEqual(['paygraph', read('postgres_password'), 'postgres']);
});

for (const [kind, program, lack] of [
  ['SQLite', 'sqlite', lacking('sqlite3')],
  ['PostgreSQL', 'postgres', lacking('pg_dump', 'pg_restore') ?? noPostgres],
] as const)
  describeWhere(lack, `A backup of the journal in ${kind}, restored as documented,`, () => {
    test('lets the gateway replay creates from before the backup, and find later creates by a lookup', async () => {
      const service = closeAfterTests(await FakePaymentService.start());
      const folder = openFolder();
      mkdirSync(path.join(folder, 'data'));
      const store = kind === 'PostgreSQL' ? await openStore(kind) : undefined;
      if (store) closeAfterTests({ close: () => store.drop() });
      const DATABASE_URL = store?.url ?? `file:${path.join(folder, 'data/paygraph.db')}`;
      const open = () => testGateway(service.url, { env: { DATABASE_URL } });

      const before = await open();
      const [kept, lost] = [newKey(), newKey()];
      const caller = new Caller(before.gateway.url);
      const created = await caller.create('payment', kept);
      expect(created).toMatchObject({ result: 'PaymentSuccess', replayed: false });
      const output = run(commands(`${program}-backup`), folder, { DATABASE_URL });
      expect(output.trim()).toBe(kind === 'SQLite' ? 'ok' : '');
      expect(await caller.create('payment', lost)).toMatchObject({ result: 'PaymentSuccess' });
      await before.gateway.close();

      run(commands(`${program}-restore`), folder, { DATABASE_URL });
      const after = new Caller((await open()).gateway.url);
      expect(await after.attempt(lost)).toBeNull();
      expect(await after.create('payment', kept)).toMatchObject({
        replayed: true,
        transactionId: created.transactionId,
      });
      const again = await untilAccepted(() => after.create('payment', lost));
      expect(again).toMatchObject({ result: 'PaymentSuccess', replayed: true });
      expect(service.created(lost)).toHaveLength(1);
    });
  });
