import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../support/cleanup';
import { latch, until } from '../support/latch';
import { CHANNEL, testGateway, testSandbox, testService, type TestClient } from '../support/gateway';
import { sendCall, validCall, type Json, type MutationCall, type Mutation } from '../support/calls';
import { Credentials } from '../../src/datasources/payment-service/credentials';
import type {
  FakePaymentService,
  ReceivedRequest,
  Reply,
} from '../support/payment-service/fake-payment-service';

/** Channels of two merchants with an entry in the credentials file. CHANNEL belongs to a third, without an entry. */
const A = 'aaaaaaaa-1111-4111-8111-aaaaaaaaaaaa';
const B = 'bbbbbbbb-2222-4222-8222-bbbbbbbbbbbb';

/** Part of every secret of this file, so that one search finds all of them. */
const CANARY = 'CANARY';
const secretOf = (name: string): string => `${CANARY}-secret-${name}`;
const keyOf = (name: string): string => `${CANARY}-key-${name}`;
const NAMES = ['a', 'b', 'default', 'env', 'old', 'new', 'newer', 'unused'];
const [OLD, NEW, NEWER] = [secretOf('old'), secretOf('new'), secretOf('newer')];

const entry = (name: string): Json => ({ apiKey: keyOf(name), secretKeys: [secretOf(name)] });
const rotating = (...secretKeys: string[]): Json => ({ default: { apiKey: keyOf('default'), secretKeys } });

const NO_SETTINGS = { SERVICE_API_KEY: '', SERVICE_SECRET_KEY: '', FINGERPRINT_KEY: `${CANARY}-fingerprint` };
const SETTINGS = { SERVICE_API_KEY: keyOf('env'), SERVICE_SECRET_KEY: secretOf('env') };

const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : JSON.stringify(content);

/** Writes a credentials file, and others beside it, to a new folder. Returns its path. */
function fileWith(content: unknown, others: Record<string, string> = {}): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries({ ...others, 'credentials.json': textOf(content) }))
    writeFileSync(path.join(folder, name), text);
  return path.join(folder, 'credentials.json');
}

/** Shortens the interval in which the gateway polls files from 1 s to 30 ms. */
beforeAll(() => {
  const original = setTimeout;
  const POLLS: Record<number, number> = { 1000: 30, 100: 10 };
  const faster = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): unknown =>
    original(run, POLLS[ms] ?? ms, ...args);
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(faster as typeof setTimeout);
});

afterAll(() => jest.restoreAllMocks());

/** A gateway with a credentials file, and a service that checks signatures and accepts every merchant. */
class Harness {
  readonly texts: string[] = [];
  readonly logLines: string[] = [];
  client!: TestClient;

  constructor(
    readonly service: FakePaymentService,
    readonly file: string,
  ) {}

  static async start(
    content: unknown,
    env: Record<string, string> = NO_SETTINGS,
    files?: Record<string, string>,
  ): Promise<Harness> {
    const service = await testService(respond);
    service.knownSecretKeys = NAMES.map(secretOf);
    service.secretKeys = new Map(NAMES.map((name) => [keyOf(name), [secretOf(name)]]));
    const harness = new Harness(service, fileWith(content, files));
    harness.client = await testGateway(service.url, {
      logLines: harness.logLines,
      env: { SERVICE_CREDENTIALS_FILE: harness.file, SERVICE_TIMEOUT_MS: '30000', ...env },
    });
    benches.push(harness);
    return harness;
  }

  write(content: unknown): void {
    writeFileSync(this.file, textOf(content));
  }

  /** Sets the secret keys that the service accepts with an API key (default: that of the default entry). */
  accept(secretKeys: readonly string[], apiKey = keyOf('default')): void {
    this.service.secretKeys?.set(apiKey, secretKeys);
  }

  logged(event: string): Json[] {
    return this.logLines.map((line) => JSON.parse(line) as Json).filter((line) => line['event'] === event);
  }

  /** Changes files, and waits until the gateway has logged the reload or its failure. */
  async reloaded(change: () => void, event = 'credentials_reloaded'): Promise<void> {
    const before = this.logged(event).length;
    change();
    await until(() => this.logged(event).length > before);
  }

  /** Sends a mutation until it is not RequestInProgress. Returns the typename of its result or an error code. */
  async sendMutation({ mutation, input }: MutationCall, channel = CHANNEL): Promise<string> {
    const call = { mutation, input: { ...input, channel } };
    const { result, errors, text } = await until(
      () => sendCall(this.client, call),
      (response) => !response.text.includes('RequestInProgress'),
    );
    this.texts.push(text);
    return result?.__typename ?? String(errors?.[0]?.extensions['code']);
  }

  create(channel = CHANNEL): Promise<string> {
    return this.sendMutation(validCall('createPayment', 'other'), channel);
  }

  /** Looks a payment or payout up. Returns "found", "nothing", or the code of an error. */
  async lookUp(field: 'payment' | 'payout' = 'payment', channel = CHANNEL): Promise<string> {
    const type = field === 'payment' ? 'PaymentResource' : 'PayoutResource';
    const query = `query Q($c: UUID!, $t: UUID!) { ${field}(channel: $c, transactionId: $t) { ... on ${type} { transactionId } } }`;
    // A new id each time, because concurrent lookups of one transaction share a request.
    const { data, errors, text } = await this.client.request<Record<string, unknown> | null>(query, {
      c: channel,
      t: randomUUID(),
    });
    this.texts.push(text);
    return errors ? String(errors[0]?.extensions['code']) : data?.[field] ? 'found' : 'nothing';
  }

  /** Returns the secret key of each request since the last call, and whether the service refused it. */
  attempts(): [secretKey: string | undefined, isRefused: boolean][] {
    return this.service.takeRequests().map(({ secretKey, isRefused = false }) => [secretKey, isRefused]);
  }

  /** Returns the secret keys since the last call, without repetitions; each is accepted with its API key only. */
  secretKeys(): (string | undefined)[] {
    return [...new Set(this.attempts().map(([secretKey]) => secretKey))];
  }
}

/** Finds every transaction by its id, accepts confirms, and leaves creates to the ledger of the fake service. */
const respond = ({ method, endpoint, parameters, json }: ReceivedRequest): Reply | undefined => {
  if (endpoint === 'confirm')
    return { status: 200, json: { status: 'processing', transaction_id: json['id'] } };
  if (method === 'POST') return undefined;
  const id = parameters.get('transaction_id');
  return id === null ? { status: 404 } : { status: 200, json: { status: 'completed', transaction_id: id } };
};

const benches: Harness[] = [];

afterEach(() => {
  for (const { texts, logLines } of benches.splice(0)) {
    expect(texts.join('\n')).not.toContain(CANARY);
    expect(logLines.join('')).not.toContain(CANARY);
  }
});

const CALLS: [Mutation, variant: string][] = [
  ['createPayment', 'other'],
  ['createPayout', 'other'],
  ['confirmPayment', 'upi'],
];
const FIELDS = ['payment', 'payout'] as const;

async function everyCall(harness: Harness, channel: string): Promise<string[]> {
  const ends: string[] = [];
  for (const [mutation, variant] of CALLS) {
    const call = validCall(mutation, variant);
    const input = mutation === 'confirmPayment' ? { ...call.input, transactionId: randomUUID() } : call.input;
    ends.push(await harness.sendMutation({ mutation, input }, channel));
  }
  for (const field of FIELDS) ends.push(await harness.lookUp(field, channel));
  return ends;
}

const ALL_WELL = ['PaymentSuccess', 'PayoutSuccess', 'PaymentSuccess', 'found', 'found'];
const AUTH_FAILED = 'SERVICE_AUTH_FAILED';

describe('Calls on a channel', () => {
  test('are signed with the key and secret of the channel, or with the default credentials if it has none', async () => {
    const harness = await Harness.start({
      default: entry('default'),
      channels: { [A]: entry('a'), [B.toUpperCase()]: entry('b') },
    });
    for (const [channel, name] of [
      [A, 'a'],
      [B, 'b'],
      [CHANNEL, 'default'],
      [A.toUpperCase(), 'a'],
    ] as const) {
      expect(await everyCall(harness, channel)).toEqual(ALL_WELL);
      // Two creates, a confirm, the preflight lookup of the payout, and two lookups.
      expect(harness.attempts()).toEqual(Array(6).fill([secretOf(name), false]));
    }
  });

  test('are signed with a key and secrets that are read from separate files', async () => {
    const elsewhere = path.join(temporaryFolder(), 'key');
    writeFileSync(elsewhere, keyOf('a'));
    const harness = await Harness.start(
      { channels: { [A]: { apiKeyFile: elsewhere, secretKeyFiles: ['secret-new', './secret-a'] } } },
      NO_SETTINGS,
      { 'secret-a': `${secretOf('a')}\r\n`, 'secret-new': `${NEW}\n` },
    );
    expect(await everyCall(harness, A)).toEqual(ALL_WELL);
    expect(harness.secretKeys()).toEqual([NEW, secretOf('a')]);
  });

  test.each([
    ['the environment if the credentials file has none', { channels: { [A]: entry('a') } }, 'env'],
    ['the credentials file even if the environment has some', { default: entry('default') }, 'default'],
  ])('are signed with the default credentials of %s', async (_where, content, name) => {
    const harness = await Harness.start(content, SETTINGS);
    expect(await everyCall(harness, CHANNEL)).toEqual(ALL_WELL);
    expect(harness.secretKeys()).toEqual([secretOf(name)]);
  });

  test('fail with SERVICE_AUTH_FAILED, without a request, until the channel has credentials', async () => {
    const harness = await Harness.start({ channels: { [A]: entry('a') } });
    const calls = CALLS.map(([mutation, variant]) => validCall(mutation, variant));
    for (const call of calls) expect(await harness.sendMutation(call)).toBe(AUTH_FAILED);
    for (const field of FIELDS) expect(await harness.lookUp(field)).toBe(AUTH_FAILED);
    expect(harness.service.requests).toHaveLength(0);
    const failed = harness.logged('service_request_failed');
    expect(failed.length).toBeGreaterThanOrEqual(calls.length);
    for (const line of failed)
      expect(JSON.stringify(line)).toMatch(
        new RegExp(`NO_CREDENTIALS.*${CHANNEL}|${CHANNEL}.*NO_CREDENTIALS`),
      );
    await harness.reloaded(() => harness.write({ channels: { [A]: entry('a'), [CHANNEL]: entry('b') } }));
    const ends = [];
    for (const call of calls) ends.push(await harness.sendMutation(call));
    expect(ends).toEqual(ALL_WELL.slice(0, 3));
    expect(harness.secretKeys()).toEqual([secretOf('b')]);
  });
});

/** Makes creates and lookups concurrently. Expects all to succeed, and each create to be carried out once. */
async function expectManyAtOnce(harness: Harness, times: number): Promise<void> {
  const kinds = ['createPayment', 'createPayout'] as const;
  const creates = Array.from({ length: times }, () => kinds.map((kind) => validCall(kind, 'other'))).flat();
  const lookUps = Array.from({ length: times }, () => harness.lookUp());
  const ends = await Promise.all([...creates.map((call) => harness.sendMutation(call)), ...lookUps]);
  expect(new Set(ends)).toEqual(new Set(['PaymentSuccess', 'PayoutSuccess', 'found']));
  for (const { input } of creates)
    expect(harness.service.created(String(input['externalId']))).toHaveLength(1);
}

describe('A call during a rotation of the secret key', () => {
  test('succeeds at every step, and the switch to the new key is logged', async () => {
    const harness = await Harness.start(rotating(OLD));
    harness.accept([OLD]);
    await expectManyAtOnce(harness, 2);
    const during = expectManyAtOnce(harness, 6);
    await harness.reloaded(() => harness.write(rotating(NEW, OLD)));
    await during;
    harness.service.takeRequests();
    // The key used so far stays first while the service accepts it.
    await expectManyAtOnce(harness, 2);
    expect(harness.secretKeys()).toEqual([OLD]);
    let arrived = 0;
    harness.service.plan(() => {
      if ((arrived += 1) === 9) harness.accept([NEW]);
      return undefined;
    });
    await expectManyAtOnce(harness, 6);
    await expectManyAtOnce(harness, 1);
    expect(harness.logged('secret_key_switched')).toMatchObject([{ entry: 'default', secretKey: 1 }]);
    const last = expectManyAtOnce(harness, 6);
    await harness.reloaded(() => harness.write(rotating(NEW)));
    await last;
    harness.service.takeRequests();
    await expectManyAtOnce(harness, 2);
    // The old key is not tried any more.
    harness.accept([OLD]);
    expect(await harness.create()).toBe(AUTH_FAILED);
    expect(harness.secretKeys()).toEqual([NEW]);
  });

  test('uses the keys of its own channel although another channel has switched keys', async () => {
    const harness = await Harness.start({
      default: { apiKey: keyOf('default'), secretKeys: [NEW, OLD] },
      channels: { [A]: { apiKey: keyOf('a'), secretKeys: [secretOf('a'), OLD] } },
    });
    harness.accept([OLD]);
    expect(await harness.lookUp()).toBe('found');
    harness.service.takeRequests();
    expect(await harness.lookUp('payment', A)).toBe('found');
    expect(harness.attempts()).toEqual([[secretOf('a'), false]]);
  });

  test('is sent once with each secret key, then fails, when the service refuses both', async () => {
    const harness = await Harness.start(rotating(NEW, OLD), { ...NO_SETTINGS, PAYOUT_PREFLIGHT: 'off' });
    harness.accept([NEWER]);
    const sending = CALLS.map((call) => () => harness.sendMutation(validCall(...call)));
    for (const send of [...sending, () => harness.lookUp()]) {
      expect(await send()).toBe(AUTH_FAILED);
      expect(harness.attempts()).toEqual([
        [NEW, true],
        [OLD, true],
      ]);
    }
  });
});

const MINUTE = 60_000;

describe('A clock difference to the payment service', () => {
  test.each([10, -10])(
    'of %i minutes is corrected by the first call, which also finds the accepted secret key',
    async (minutes) => {
      const harness = await Harness.start(rotating(NEW, OLD));
      harness.accept([OLD]);
      harness.service.clockOffsetMs = minutes * MINUTE;
      expect(await harness.create()).toBe('PaymentSuccess');
      expect(harness.attempts()).toEqual([
        [NEW, true],
        [NEW, true],
        [OLD, false],
      ]);
      await expectManyAtOnce(harness, 2);
      expect(harness.secretKeys()).toEqual([OLD]);
    },
  );

  test('causes at most three requests for a call when the service refuses all signatures', async () => {
    const harness = await Harness.start(rotating(NEW, OLD));
    harness.accept([NEWER]);
    harness.service.dateOffsetMs = 20 * MINUTE;
    expect(await harness.create()).toBe(AUTH_FAILED);
    expect(harness.service.requests).toHaveLength(3);
  });

  test('stays corrected when the service refuses the credentials of another channel', async () => {
    const harness = await Harness.start({ default: entry('default'), channels: { [A]: entry('unused') } });
    harness.accept([], keyOf('unused'));
    harness.service.clockOffsetMs = 10 * MINUTE;
    expect(await harness.lookUp()).toBe('found');
    harness.service.takeRequests();
    expect(await harness.lookUp('payment', A)).toBe(AUTH_FAILED);
    expect(await harness.lookUp()).toBe('found');
    expect(harness.attempts().map(([, isRefused]) => isRefused)).toEqual([true, false]);
  });
});

describe('A change of the credentials file', () => {
  test('does not affect the credentials of a call in flight', async () => {
    const harness = await Harness.start(rotating(NEW, OLD));
    const held = latch();
    harness.accept([OLD]);
    harness.service.next('create-payment', { acts: true, first: held.opened });
    const call = harness.create();
    await until(() => harness.service.requests.length === 1);
    await harness.reloaded(() => harness.write({ default: { apiKey: keyOf('newer'), secretKeys: [NEWER] } }));
    held.open();
    expect(await call).toBe('PaymentSuccess');
    expect(await harness.create()).toBe('PaymentSuccess');
    expect(harness.secretKeys()).toEqual([NEW, OLD, NEWER]);
  });

  test('keeps every configured key redacted in responses, even a key that signs no request', async () => {
    const contentWith = (second: string): Json => ({
      default: { apiKey: keyOf('default'), secretKeys: [secretOf('default'), second] },
      channels: { [A]: entry('a'), [B]: { apiKey: keyOf('b'), secretKeys: [secretOf('b'), NEW] } },
    });
    const harness = await Harness.start(contentWith(OLD), SETTINGS);
    await harness.reloaded(() => harness.write(contentWith(NEWER)));
    const known = ['default', 'a', 'b', 'env'].flatMap((name) => [keyOf(name), secretOf(name)]);
    for (const value of [...known, NEW, NEWER]) {
      harness.service.respond(() => ({ status: 400, json: { message: `${value} may not do that` } }));
      expect(await harness.create(A)).toBe('RejectedByServiceError');
      expect(await harness.lookUp('payment', A)).toBe('BAD_USER_INPUT');
    }
    harness.service.respond(() => ({ status: 400, json: { message: 'you may not do that' } }));
    await harness.create(A);
    expect(harness.texts.at(-1)).toContain('you may not do that');
  });

  test('by a replaced symlink, as Kubernetes does for mounted secrets, is applied atomically', async () => {
    const mount = temporaryFolder();
    const publish = (version: string, name: string): void => {
      mkdirSync(path.join(mount, version));
      writeFileSync(path.join(mount, version, 'key'), keyOf(name));
      writeFileSync(path.join(mount, version, 'secret'), secretOf(name));
      symlinkSync(version, path.join(mount, '..data_tmp'));
      renameSync(path.join(mount, '..data_tmp'), path.join(mount, '..data'));
    };
    publish('..1', 'old');
    for (const name of ['key', 'secret']) symlinkSync(path.join('..data', name), path.join(mount, name));
    const harness = await Harness.start({
      default: { apiKeyFile: path.join(mount, 'key'), secretKeyFiles: [path.join(mount, 'secret')] },
    });
    expect(await harness.lookUp()).toBe('found');
    await harness.reloaded(() => publish('..2', 'new'));
    expect(await harness.lookUp()).toBe('found');
    expect(harness.secretKeys()).toEqual([OLD, NEW]);
  });

  test('is not applied while the new file is invalid or missing', async () => {
    const harness = await Harness.start({ default: entry('default') });
    const broken: [change: () => void, where: string][] = [
      [() => harness.write({ default: { ...entry('a'), more: CANARY } }), 'default: '],
      [() => rmSync(harness.file), ''],
    ];
    for (const [change, where] of broken) {
      await harness.reloaded(change, 'credentials_file_invalid');
      const line = harness.logged('credentials_file_invalid').at(-1);
      expect(line).toMatchObject({ level: 50, why: expect.stringContaining(where) as unknown });
      expect(await harness.lookUp()).toBe('found');
    }
    await harness.reloaded(() => harness.write({ default: entry('newer') }));
    expect(await harness.lookUp()).toBe('found');
    expect(harness.secretKeys()).toEqual([secretOf('default'), NEWER]);
  });
});

const good = entry('a');
const inChannel = (secretKeys: unknown): Json => ({ channels: { [A]: { apiKey: CANARY, secretKeys } } });
const twice = `"${A}": ${JSON.stringify(good)}`;

/** Invalid files: description, content, and the entry and field with which the error starts. */
const FAULTS: [what: string, content: unknown, where: string][] = [
  ['broken JSON', `{"default": {"apiKey": "${CANARY}"`, ''],
  ['a list in place of an object', [good], ''],
  ['an unknown field', { default: good, [CANARY]: 1 }, ''],
  ['no entry', {}, ''],
  ['a repeated JSON name', `{"channels": {${twice}, ${twice}}}`, ''],
  ['a text as default entry', { default: CANARY }, 'default'],
  ['an unknown field in an entry', { default: { ...good, [CANARY]: 1 } }, 'default'],
  ['two API keys', { default: { ...good, apiKeyFile: CANARY } }, 'default'],
  ['no secret key', { default: { apiKey: CANARY } }, 'default'],
  ['a number as API key', { default: { ...good, apiKey: 4111 } }, 'default: apiKey'],
  ['an API key of two lines', { default: { ...good, apiKey: `${CANARY}\r\nx-evil: 1` } }, 'default: apiKey'],
  ['an empty list of secret keys', inChannel([]), `channels.${A}: secretKeys`],
  ['three secret keys', inChannel([CANARY, '2', '3']), `channels.${A}: secretKeys`],
  ['null as second secret key', inChannel([CANARY, null]), `channels.${A}: secretKeys[1]`],
  ['the same secret key twice', inChannel([CANARY, CANARY]), `channels.${A}: secretKeys`],
  ...['.', `${CANARY}\0`, 'two-lines'].map((apiKeyFile): (typeof FAULTS)[number] => [
    `the path ${JSON.stringify(apiKeyFile)}, which is not a file with one line`,
    { default: { apiKeyFile, secretKeys: [CANARY] } },
    'default: apiKeyFile',
  ]),
  ['null as channels', { channels: null }, 'channels'],
  ['a channel that is not a UUID', { channels: { [A]: good, [CANARY]: good } }, 'channels: entry 2'],
  ['a channel id twice', { channels: { [A]: good, [A.toUpperCase()]: good } }, `channels.${A}`],
];

/** Returns an error with all its properties as text. */
const printed = (error: unknown): string => `${String(error)} ${JSON.stringify(error)}`;

describe('A credentials file', () => {
  test.each(FAULTS)(
    'is refused when it has %s, with an error that names the invalid entry, if any, but no value',
    (_what, content, where) => {
      const file = fileWith(content, { 'two-lines': `${CANARY}\n${CANARY}\n` });
      let fault: unknown;
      try {
        new Credentials({ credentialsFile: file, defaultCredentials: undefined }).close();
      } catch (error) {
        fault = error;
      }
      expect((fault as Error).message.startsWith(where)).toBe(true);
      expect(printed(fault)).not.toContain(CANARY);
    },
  );

  test.each<[string, Record<string, string>, RegExp]>([
    ['it is invalid', {}, /^SERVICE_CREDENTIALS_FILE: default: /],
    ['it is missing', { SERVICE_CREDENTIALS_FILE: '/nowhere' }, /^SERVICE_CREDENTIALS_FILE: .*ENOENT/],
    [
      'only one of SERVICE_API_KEY and SERVICE_SECRET_KEY is set',
      { SERVICE_API_KEY: CANARY },
      /^SERVICE_SECRET_KEY: .*SERVICE_API_KEY/,
    ],
  ])('prevents the start of the gateway when %s', async (_when, env, fault) => {
    const file = fileWith({ default: CANARY });
    const started = testGateway('http://127.0.0.1:9/', {
      env: { ...NO_SETTINGS, SERVICE_CREDENTIALS_FILE: file, ...env },
    });
    const error: unknown = await started.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'ConfigError', errors: [expect.stringMatching(fault)] });
    expect(printed(error)).not.toContain(CANARY);
  });

  test('is ignored, with a log entry, by a gateway with the embedded sandbox', async () => {
    const sandbox = await testSandbox();
    const logLines: string[] = [];
    const env = { ...NO_SETTINGS, SERVICE_CREDENTIALS_FILE: fileWith({ default: CANARY }) };
    await testGateway(sandbox.url, { inSandbox: true, logLines, env });
    expect(logLines.join('')).toContain('"event":"credentials_file_ignored"');
  });
});
