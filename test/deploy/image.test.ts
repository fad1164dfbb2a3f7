import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Caller } from '../exactly-once/support/caller';
import { until } from '../exactly-once/support/gate';
import { CHECKOUT } from '../gateway/fixtures/program';
import { clientKeysText, CLIENT_KEY } from '../support/credentials';
import { API_KEY, SECRET_KEY, testSandbox } from '../support/gateway';
import { buildContext, dockerfileStages, imageEnvironment, imageSays } from './support/dockerfile';
import { freePort } from '../support/free-port';
import { describeWhere, lacking, notSettings, openFolder } from './support/files';
import { buildImage, runInImage, type Container } from './support/image';

// The project is compiled for it, and other tests run beside this one.
jest.setTimeout(300_000);

describe('The Dockerfile', () => {
  const stages = dockerfileStages();
  const all = stages.flatMap(({ instructions }) => instructions);
  const copies = all.filter(({ name }) => name === 'COPY');

  test('copies only what is there, and what .dockerignore lets through', () => {
    const own = copies.filter(({ flags }) => !flags['from']).flatMap(({ words }) => words.slice(0, -1));
    const names = own.filter((source) => source !== '.').map((source) => source.replace(/^\.\//, ''));
    expect(names.filter((name) => !existsSync(path.join(CHECKOUT, name)))).toEqual([]);
    expect(names.filter((name) => !buildContext().includes(name))).toEqual([]);
    expect(buildContext().filter((name) => !existsSync(path.join(CHECKOUT, name)))).toEqual([]);
  });

  test('takes from stages that stand before it', () => {
    const known: string[] = [];
    for (const { name, from, instructions } of stages) {
      if (known.length > 0) expect(known).toContain(from);
      for (const { flags } of instructions) if (flags['from']) expect(known).toContain(flags['from']);
      known.push(name);
    }
  });

  test('has the Node.js of package.json, by its full version', () => {
    const { devDependencies } = JSON.parse(readFileSync(path.join(CHECKOUT, 'package.json'), 'utf8')) as {
      devDependencies: { node: string };
    };
    expect(stages[0]?.from).toMatch(new RegExp(`^node:${devDependencies.node}-[a-z]+-slim$`));
  });

  test('gives the image a numeric user, no way to run a script of a package, and words instead of a shell', () => {
    expect(imageSays('USER').text).toMatch(/^[1-9]\d+:[1-9]\d+$/);
    const installs = all.filter(({ name, text }) => name === 'RUN' && /\bnpm (ci|install)\b/.test(text));
    expect(installs.filter(({ text }) => !text.includes('--ignore-scripts'))).toEqual([]);
    for (const name of ['ENTRYPOINT', 'CMD']) expect(imageSays(name).text).toMatch(/^\[/);
    expect(imageSays('HEALTHCHECK').text).toMatch(/^CMD \[/);
  });

  test('holds no secret and no setting that stands in the way of a file with one', () => {
    const set = Object.keys(imageEnvironment());
    expect(set.filter((name) => /KEY|TOKEN|SECRET|PASSWORD|DATABASE|_FILE$/.test(name))).toEqual([]);
    expect(notSettings(set)).toEqual(['NODE_ENV', 'NODE_DISABLE_COMPILE_CACHE', 'HOME']);
    expect(all.filter(({ name }) => ['ARG', 'ADD'].includes(name))).toEqual([]);
  });
});

describeWhere(lacking('bwrap'), 'The image, laid out as the Dockerfile says and run read-only', () => {
  const entry = imageSays('ENTRYPOINT').words;
  const start = [...entry, ...imageSays('CMD').words];
  const health = JSON.parse(imageSays('HEALTHCHECK').text.replace(/^CMD /, '')) as string[];
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
      WORKERS: '2',
      SERVICE_BASE_URL: sandbox.url,
      SERVICE_API_KEY: API_KEY,
      SERVICE_SECRET_KEY_FILE: secret,
      CLIENT_KEYS_FILE: keys,
    };
    url = `http://127.0.0.1:${PORT}`;
    gateway = run(start);
    await Promise.race([
      until(
        () => gateway.output(),
        (output) => output.includes('"msg":"listening"'),
        120_000,
      ),
      gateway.exited,
    ]);
  });

  test('has the packages that npm wants in production, and no other', () => {
    const app = path.join(image, 'app');
    const { status, stderr } = spawnSync('npm', ['ls', '--all', '--omit=dev'], {
      cwd: app,
      encoding: 'utf8',
    });
    expect(status === 0 ? '' : stderr).toBe('');
    expect(existsSync(path.join(image, 'app/node_modules/typescript'))).toBe(false);
    expect(readdirSync(path.join(image, 'app')).sort()).toEqual(
      ['bin', 'data', 'dist', 'node_modules', 'package.json'].sort(),
    );
  });

  test('answers, and creates a payment', async () => {
    expect(gateway.output()).toContain('"msg":"listening"');
    expect(await new Caller(url).create('payment', 'order-1')).toMatchObject({ result: 'PaymentSuccess' });
  });

  test('has its journal and its audit log in /data, and can write nowhere else', async () => {
    expect(readdirSync(path.join(image, 'data'))).toEqual(
      expect.arrayContaining(['paygraph.db', 'audit.log']),
    );
    const places = ['/', '/app', '/app/dist', '/tmp', '/usr/local/bin', '/data'];
    const tries = `for (const place of ${JSON.stringify(places)})
      try { require('fs').writeFileSync(place + '/new', ''); console.log(place); } catch {}`;
    const trying = run(['node', '-e', tries]);
    expect(await trying.exited).toBe(0);
    expect(trying.output()).toBe('/data\n');
  });

  test('is healthy while it runs; when it is stopped it ends with 0, and is healthy no more', async () => {
    expect(await run(health).exited).toBe(0);
    gateway.stop();
    expect(await gateway.exited).toBe(0);
    expect(gateway.output()).toContain('"msg":"stopped"');
    expect(await run(health).exited).toBe(1);
  });

  test('brings the journal up to date when it is told to migrate', async () => {
    const migrating = run([...entry, 'migrate']);
    expect(await migrating.exited).toBe(0);
    expect(migrating.output()).toMatch(/up to date/i);
  });
});
