import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import path from 'node:path';
import { examine } from '../../src/cli/doctor/examine';
import { CHECKS } from '../../src/cli/doctor/checks';
import { readConfig } from '../../src/config';
import { Issuer, newKey } from '../access/support/issuer';
import { entry, linesOf, openLog, putLines, writeChain } from '../audit/support/files';
import { temporaryFolder } from '../gateway/fixtures/manifests';
import { clientKeysText } from '../support/credentials';
import { closeAfterTests, testGateway } from '../support/gateway';
import { NOBODY, doctor, goodSettings } from './support/doctor';

const settings = () => goodSettings(NOBODY);

/** A file of that text and mode. */
function fileOf(text: string, mode = 0o600): string {
  const file = path.join(temporaryFolder(), 'file');
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

const found = (status: string, says: RegExp, mend: RegExp) =>
  expect.objectContaining({
    status,
    says: expect.stringMatching(says) as string,
    mend: expect.stringMatching(mend) as string,
  }) as object;

describe('Client keys', () => {
  const keysIn = async (CLIENT_KEYS_FILE: string) =>
    (await doctor({ ...settings(), CLIENT_KEYS_FILE })).of('client keys');

  test('that can be read are counted', async () => {
    const file = fileOf(
      clientKeysText([
        { id: 'shop', key: 'one' },
        { id: 'kiosk', key: 'two' },
      ]),
    );
    expect(await keysIn(file)).toMatchObject([
      { status: 'ok', says: 'Keys of internal services: 2, of 2 clients.' },
    ]);
  });

  test('of a client that has two are a change that was not ended', async () => {
    const file = fileOf(
      clientKeysText([
        { id: 'shop', key: 'one' },
        { id: 'shop', key: 'two' },
      ]),
    );
    expect(await keysIn(file)).toContainEqual(found('warning', /several keys .*: shop/, /client-key revoke/));
  });

  test('that have expired, or expire within two weeks, are a warning', async () => {
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const clients = [
      { id: 'shop', key: 'one', label: 'old', expiresAt: inDays(-1) },
      { id: 'shop', key: 'two', label: 'new', expiresAt: inDays(365) },
      { id: 'kiosk', key: 'three', label: 'only', expiresAt: inDays(13) },
    ];
    expect(await keysIn(fileOf(clientKeysText(clients)))).toEqual([
      expect.objectContaining({ status: 'ok' }),
      found('warning', /expired: shop \(old\)\.$/, /client-key revoke/),
      found('warning', /14 days: kiosk \(only\)\.$/, /client-key rotate/),
    ]);
  });

  test.each([
    ['that is not JSON', '[{"id": "CANARY"', /it is not JSON/],
    ['with an entry that is wrong', '[{"id": "CANARY"}]', /entry 1: keySha256: /],
  ])('in a file %s are a failure', async (_what, text, says) => {
    const findings = await keysIn(fileOf(text));
    expect(findings).toEqual([found('failed', says, /docs\/security\.md/)]);
    expect(JSON.stringify(findings)).not.toContain('CANARY');
  });

  test('in a file that is not there are a failure', async () => {
    expect(await keysIn('/nowhere/clients.json')).toEqual([found('failed', /ENOENT/, /client-key new/)]);
  });

  test('in a file without any let nobody in', async () => {
    expect(await keysIn(fileOf('[]'))).toEqual([found('warning', /holds no key/, /client-key new/)]);
  });
});

describe('Public keys for tokens', () => {
  const keysOf = async (issuer: Issuer) =>
    (await doctor({ ...settings(), ...issuer.settings })).of('token keys');

  test('that can be loaded are counted, those of no use apart', async () => {
    const keys = [await newKey('ES256'), await newKey('RS256'), await newKey('EdDSA'), await newKey('ES384')];
    expect(await keysOf(await Issuer.start(...keys))).toMatchObject([
      { status: 'ok', says: expect.stringContaining('3 of 4') },
    ]);
  });

  test('of which none is of use are a failure', async () => {
    const issuer = await Issuer.start(await newKey('ES384'));
    expect(await keysOf(issuer)).toEqual([found('failed', /None of the 1 public keys/, /ES256/)]);
  });

  test.each([
    ['is down', (issuer: Issuer) => issuer.down(), /ECONNREFUSED/],
    [
      'has none there',
      async (issuer: Issuer) => void (issuer.answering = (response) => void response.writeHead(404).end()),
      /status 404/,
    ],
    [
      'has something else there',
      async (issuer: Issuer) => void (issuer.answering = (response) => void response.end('<html>')),
      /no JSON/,
    ],
  ])('whose issuer %s are a failure', async (_what, make, says) => {
    const issuer = await Issuer.start(await newKey('ES256'));
    await make(issuer);
    expect(await keysOf(issuer)).toEqual([found('failed', says, /identity provider/)]);
  });
});

describe('Files', () => {
  const permissions = async (env: Record<string, string>) =>
    (await doctor({ ...settings(), ...env })).of('file permissions');

  test('that are for the gateway alone are well', async () => {
    expect(await permissions({})).toMatchObject([
      { status: 'ok', says: expect.stringContaining('CLIENT_KEYS_FILE') },
    ]);
  });

  test.each([
    [0o644, 'warning', /may read/],
    [0o604, 'warning', /may read/],
    [0o602, 'failed', /may write/],
    [0o666, 'failed', /may write/],
  ])('of mode %s with keys of clients: %s', async (mode, status, says) => {
    const file = fileOf('[]', mode);
    expect(await permissions({ CLIENT_KEYS_FILE: file })).toEqual([
      found(status, says, new RegExp(`chmod 600 ${file}`)),
    ]);
  });

  test('of secrets that everybody may read are named by their settings, without what is in them', async () => {
    const { SERVICE_SECRET_KEY: _, ...env } = settings();
    const report = await doctor({ ...env, SERVICE_SECRET_KEY_FILE: fileOf('CANARY-secret', 0o644) });
    expect(report.of('file permissions')).toEqual([
      found('warning', /may read SERVICE_SECRET_KEY_FILE, which holds a secret/, /chmod/),
    ]);
    expect(report.text).not.toContain('CANARY');
  });

  test('of the journal that everybody may read are a warning, each by its name', async () => {
    const file = fileOf('', 0o644);
    writeFileSync(`${file}-wal`, '');
    chmodSync(`${file}-wal`, 0o644);
    expect(await permissions({ DATABASE_URL: `file:${file}` })).toEqual([
      found('warning', /may read the journal/, new RegExp(`chmod 600 ${file},`)),
      found('warning', /-wal/, new RegExp(`chmod 600 ${file}-wal`)),
    ]);
  });

  test('that the file of credentials names are looked at, too', async () => {
    const apiKeyFile = fileOf('key', 0o644);
    const file = fileOf(JSON.stringify({ default: { apiKeyFile, secretKeys: ['CANARY'] } }));
    expect(await permissions({ SERVICE_CREDENTIALS_FILE: file })).toEqual([
      found('warning', new RegExp(`may read ${apiKeyFile}`), /chmod/),
    ]);
  });
});

describe('The audit log', () => {
  test('that is whole is well, and is not touched', async () => {
    const env = settings();
    const { log } = openLog(env['AUDIT_LOG_FILE']!);
    log.record(entry());
    const before = statSync(env['AUDIT_LOG_FILE']!);
    const findings = (await doctor(env)).of('audit log');
    expect(findings.map(({ status }) => status)).not.toContain('failed');
    expect(findings.at(-1)?.says).toBe('The last 2 lines of the audit log are as they were written.');
    expect(statSync(env['AUDIT_LOG_FILE']!)).toMatchObject({ size: before.size, mtimeMs: before.mtimeMs });
    await log.close();
  });

  test('is looked at by its end where it is long', async () => {
    const env = settings();
    const file = env['AUDIT_LOG_FILE']!;
    await writeChain(file, ...Array.from({ length: 1000 }, (_, place) => `key-${place}`));
    // What is not at the end is for paygraph audit verify.
    putLines(file, linesOf(file).toSpliced(10, 1));
    expect((await doctor(env)).of('audit log').at(-1)).toMatchObject({ status: 'ok' });
    putLines(file, linesOf(file).toSpliced(-10, 1));
    expect((await doctor(env)).of('audit log')).toContainEqual(
      found('failed', /1 were changed, or lines before them are missing/, /paygraph audit verify/),
    );
  });

  test('of which a line was changed is a failure', async () => {
    const env = settings();
    const file = env['AUDIT_LOG_FILE']!;
    await writeChain(file, 'a', 'b', 'c');
    putLines(file, linesOf(file).with(2, linesOf(file)[2]!.replace('10000.00', '90000.00')));
    expect((await doctor(env)).of('audit log')).toContainEqual(
      found('failed', /Of the last 5 lines of the audit log 1 were changed/, /audit verify/),
    );
  });

  test.each([
    ['in a folder that is not there', '/nowhere/near/audit.log', /The folder of .* is not there/, /mkdir -p/],
    ['that is a folder', '/tmp', /\/tmp cannot be read \(EISDIR\)/, /AUDIT_LOG_FILE/],
  ])('%s is a failure', async (_what, AUDIT_LOG_FILE, says, mend) => {
    expect((await doctor({ ...settings(), AUDIT_LOG_FILE })).of('audit log')).toContainEqual(
      found('failed', says, mend),
    );
  });
});

describe('Ports', () => {
  const portsOf = async (PORT: string) => (await doctor({ ...settings(), PORT })).of('ports');

  /** Listens on that port; null where somebody does already. */
  const listenOn = (port: number): Promise<Server | null> =>
    new Promise((resolve) => {
      const server = createServer((socket) => socket.destroy());
      server.once('error', () => resolve(null));
      server.listen(port, '127.0.0.1', () => resolve(server));
    });

  test('that nobody holds are free', async () => {
    // Below those that the system gives to others who ask for any.
    for (let port = 21_430; ; port += 1) {
      const server = await listenOn(port);
      if (!server) continue;
      await new Promise((resolve) => server.close(resolve));
      expect(await portsOf(String(port))).toMatchObject([{ status: 'ok', says: `Port ${port} is free.` }]);
      return;
    }
  });

  test('that a paygraph holds are no fault: the doctor may run beside it, on its files', async () => {
    const env = settings();
    const client = await testGateway(NOBODY, { env: { ...env, PORT: '0' } });
    const { port } = new URL(client.url);
    const report = await doctor({ ...env, PORT: port });
    expect(report.of('ports')).toMatchObject([
      { status: 'ok', says: `Port ${port} is served by a paygraph that runs already.` },
    ]);
    for (const check of ['journal', 'audit log'])
      expect(report.of(check).map(({ status }) => status)).not.toContain('failed');
    expect((await client.ask('{ __typename }')).status).toBe(200);
  });

  test('that another program holds are a failure', async () => {
    const server = await listenOn(0);
    closeAfterTests({ close: async () => void server?.close() });
    const { port } = server?.address() as AddressInfo;
    expect(await portsOf(String(port))).toEqual([found('failed', /held by another program/, /set PORT/)]);
  });

  test('of an address that is not here cannot be had', async () => {
    const report = await doctor({ ...settings(), HOST: '192.0.2.1', PORT: '21429' });
    expect(report.of('ports')).toEqual([found('failed', /EADDRNOTAVAIL/, /HOST has to be an address/)]);
  });
});

describe('PUBLIC_URL', () => {
  test('that leads to a gateway takes callbacks; one on this machine is not reached from outside', async () => {
    const client = await testGateway(NOBODY);
    const { origin } = new URL(client.url);
    const report = await doctor({ ...settings(), PUBLIC_URL: origin });
    expect(report.of('public url')).toEqual([
      found(
        'warning',
        /127\.0\.0\.1 is 127\.0\.0\.1: an address that the service does not reach/,
        /same network/,
      ),
      { check: 'public url', status: 'ok', says: 'A paygraph takes callbacks there.' },
    ]);
  });

  test('that leads nowhere is a warning: it may look otherwise from outside', async () => {
    const report = await doctor({ ...settings(), PUBLIC_URL: 'http://127.0.0.1:21428' });
    expect(report.of('public url').at(-1)).toEqual(
      found('warning', /does not answer from here \(ECONNREFUSED\)/, /a firewall/),
    );
  });

  test('whose host has no address is a failure', async () => {
    const report = await doctor({ ...settings(), PUBLIC_URL: 'https://pay.invalid' });
    expect(report.of('public url')).toEqual([found('failed', /has no address/, /DNS/)]);
  });
});

test('settings that look like ours and are none are a warning', async () => {
  const report = await doctor({ ...settings(), SERVICE_TIMEOUT: '5' });
  expect(report.of('settings')).toEqual([
    found('warning', /SERVICE_TIMEOUT is no setting/, /docs\/configuration\.md/),
  ]);
});

test('a check that does not end is ended, and one that breaks does not break the others', async () => {
  const checks = [
    { name: 'slow', run: () => new Promise<never>(() => undefined) },
    { name: 'broken', run: () => Promise.reject(Object.assign(new Error('CANARY'), { code: 'EWHATEVER' })) },
    { name: 'good', run: () => [{ status: 'ok' as const, says: 'It is.' }] },
  ];
  const examined = { config: readConfig(settings()), secretFiles: [], channel: undefined, now: Date.now };
  const findings = await examine(checks, examined, 20);
  expect(findings.map(({ check, status, says }) => [check, status, says])).toEqual([
    ['slow', 'failed', 'This could not be found out within 0.02 s.'],
    ['broken', 'failed', 'This could not be found out (EWHATEVER).'],
    ['good', 'ok', 'It is.'],
  ]);
  expect(JSON.stringify(findings)).not.toContain('CANARY');
});

describe('The limit of file descriptors', () => {
  const descriptors = async (env: Record<string, string>) =>
    (await doctor({ ...settings(), ...env })).of('file descriptors');

  test('that suffices for the settings is well', async () => {
    expect(
      await descriptors({ MAX_CONNECTIONS: '10', MAX_WATCHERS: '10', MAX_WATCHERS_PER_CLIENT: '10' }),
    ).toMatchObject([{ status: 'ok' }]);
  });

  test('that is below MAX_CONNECTIONS is a warning', async () => {
    expect(await descriptors({ MAX_CONNECTIONS: '1000000' })).toEqual([
      found('warning', /MAX_CONNECTIONS/, /LimitNOFILE/),
    ]);
  });
});

test('docs/doctor.md explains every check, in the order of the report', () => {
  const text = readFileSync(path.resolve(__dirname, '../../docs/doctor.md'), 'utf8');
  const headings = [...text.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(CHECKS.map(({ name }) => name));
});
