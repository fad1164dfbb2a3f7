import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { readConfig } from '../../src/config';
import { openJournal } from '../../src/datasources/journal/open';
import { startGateway } from '../../src/gateway';
import { gate, until } from '../exactly-once/support/gate';
import {
  CHANNEL,
  TestClient,
  closeAfterTests,
  testGateway,
  testSandbox,
  testSettings,
  openPatiently,
} from '../support/gateway';
import { make, validCall, type Json, type MoneyCall, type Mutation } from './fixtures/calls';
import { SigningService, type SignedRequest } from './fixtures/signing-service';

/** Channels of three merchants; CHANNEL has no entry of its own. */
const A = 'aaaaaaaa-1111-4111-8111-aaaaaaaaaaaa';
const B = 'bbbbbbbb-2222-4222-8222-bbbbbbbbbbbb';

/** Whatever is secret here has this in it, so that one look finds any of it. */
const CANARY = 'CANARY';
const secretOf = (name: string): string => `${CANARY}-secret-${name}`;
const keyOf = (name: string): string => `${CANARY}-key-${name}`;
const NAMES = ['a', 'b', 'default', 'env', 'old', 'new', 'newer', 'unused'];
const SECRETS = NAMES.map(secretOf);
const [OLD, NEW, NEWER] = [secretOf('old'), secretOf('new'), secretOf('newer')];

const entry = (name: string): Json => ({ apiKey: keyOf(name), secretKeys: [secretOf(name)] });
const rotating = (...secretKeys: string[]): Json => ({ default: { apiKey: keyOf('default'), secretKeys } });

const NO_SETTINGS = {
  SERVICE_API_KEY: '',
  SERVICE_SECRET_KEY: '',
  FINGERPRINT_KEY: `${CANARY}-fingerprints`,
};
const SETTINGS = { SERVICE_API_KEY: keyOf('env'), SERVICE_SECRET_KEY: secretOf('env') };

const folders: string[] = [];

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-credentials-'));
  folders.push(folder);
  return folder;
}

const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : JSON.stringify(content);

/** A gateway with a file of credentials, before a service that knows every merchant. */
class Bench {
  /** Everything that callers were told. */
  readonly texts: string[] = [];
  readonly logLines: string[] = [];
  client!: TestClient;

  constructor(
    readonly service: SigningService,
    readonly file: string,
  ) {}

  /** @param beside what else there is in the folder of the file */
  static async start(
    content: unknown,
    {
      env = NO_SETTINGS,
      beside = {},
    }: { env?: Record<string, string>; beside?: Record<string, string> } = {},
  ): Promise<Bench> {
    const service = await SigningService.start(SECRETS);
    for (const name of NAMES) service.accepts.set(keyOf(name), [secretOf(name)]);
    const bench = new Bench(service, path.join(newFolder(), 'credentials.json'));
    for (const [name, text] of Object.entries(beside)) writeFileSync(bench.beside(name), text);
    bench.write(content);
    bench.client = await testGateway(service.url, {
      logLines: bench.logLines,
      env: { SERVICE_CREDENTIALS_FILE: bench.file, SERVICE_TIMEOUT_MS: '30000', ...env },
    });
    benches.push(bench);
    return bench;
  }

  /** Where a file stands in the folder of the file. */
  beside(name: string): string {
    return path.join(path.dirname(this.file), name);
  }

  write(content: unknown): void {
    writeFileSync(this.file, textOf(content));
  }

  /** Which secret keys the service accepts for the default's API key. */
  accept(...secretKeys: string[]): void {
    this.service.accepts.set(keyOf('default'), secretKeys);
  }

  #logged(message: string): number {
    return this.logLines.filter((line) => line.includes(message)).length;
  }

  /** Runs something that changes the files, and waits until the gateway says so. */
  async reloaded(change: () => void, message = 'was read again'): Promise<void> {
    const before = this.#logged(message);
    change();
    await until(
      () => this.#logged(message),
      (count) => count > before,
    );
  }

  refused(change: () => void): Promise<void> {
    return this.reloaded(change, 'cannot be used: the credentials before stay');
  }

  /**
   * Makes a call for a channel; tells how it ended: a typename, or the code of an error. While a call before it is
   * still being written down it is made again, as any caller would.
   */
  async money({ mutation, input }: MoneyCall, channel = CHANNEL): Promise<string | undefined> {
    const ask = async () => {
      const { result, errors, text } = await make(this.client, { mutation, input: { ...input, channel } });
      this.texts.push(text);
      return { end: result?.__typename ?? String(errors?.[0]?.extensions['code']), text };
    };
    const { end } = await until(ask, ({ text }) => !text.includes('RequestInProgress'));
    return end;
  }

  /** Looks a payment or payout up; "found", or the code of an error. */
  async lookUp(field: 'payment' | 'payout' = 'payment', channel = CHANNEL): Promise<string> {
    const type = field === 'payment' ? 'PaymentResource' : 'PayoutResource';
    const query = `query Q($c: UUID!, $t: UUID!) { ${field}(channel: $c, transactionId: $t) { ... on ${type} { transactionId } } }`;
    // Each asks for a transaction of its own: the same ones would share a call.
    const { data, errors, text } = await this.client.ask<Record<string, unknown> | null>(query, {
      c: channel,
      t: randomUUID(),
    });
    this.texts.push(text);
    return errors ? String(errors[0]?.extensions['code']) : data?.[field] ? 'found' : 'nothing';
  }
}

const benches: Bench[] = [];

afterEach(() => {
  for (const { texts, logLines } of benches.splice(0)) {
    expect(texts.join('\n')).not.toContain(CANARY);
    expect(logLines.join('')).not.toContain(CANARY);
  }
});

afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const CALLS: [string, Mutation, string][] = [
  ['a create of a payment', 'createPayment', 'other'],
  ['a create of a payout', 'createPayout', 'other'],
  ['a confirm', 'confirmPayment', 'upi'],
];

/** Every kind of call once, for a channel. */
async function everyCall(bench: Bench, channel: string): Promise<(string | undefined)[]> {
  const ends: (string | undefined)[] = [];
  for (const [, mutation, arm] of CALLS) ends.push(await bench.money(validCall(mutation, arm), channel));
  for (const field of ['payment', 'payout'] as const) ends.push(await bench.lookUp(field, channel));
  return ends;
}

const ALL_WELL = ['PaymentSuccess', 'PayoutSuccess', 'PaymentSuccess', 'found', 'found'];
const AUTH_FAILED = 'SERVICE_AUTH_FAILED';

const credentialsIn = (requests: readonly SignedRequest[]): Set<string> =>
  new Set(requests.map(({ apiKey, secretKey }) => `${apiKey} ${secretKey}`));

describe('Each channel', () => {
  test('has its calls signed with its own key and secret, or with the default', async () => {
    const bench = await Bench.start({
      default: entry('default'),
      channels: { [A]: entry('a'), [B.toUpperCase()]: entry('b') },
    });
    for (const [channel, name] of [
      [A, 'a'],
      [B, 'b'],
      [CHANNEL, 'default'],
      [A.toUpperCase(), 'a'],
    ] as const) {
      expect(await everyCall(bench, channel)).toEqual(ALL_WELL);
      const sent = bench.service.taken();
      // Three that move money, one look before the payout, two lookups.
      expect(sent).toHaveLength(6);
      expect(credentialsIn(sent)).toEqual(new Set([`${keyOf(name)} ${secretOf(name)}`]));
    }
  });

  test('may have its key and secrets in files of their own', async () => {
    const elsewhere = path.join(newFolder(), 'key');
    writeFileSync(elsewhere, keyOf('a'));
    const bench = await Bench.start(
      {
        default: { apiKey: keyOf('default'), secretKeyFiles: ['secret-new', './secret-default'] },
        channels: { [A]: { apiKeyFile: elsewhere, secretKeyFiles: ['secret-a'] } },
      },
      {
        beside: {
          'secret-a': `${secretOf('a')}\n`,
          'secret-default': `${secretOf('default')}\r\n`,
          'secret-new': NEW,
        },
      },
    );
    expect(await everyCall(bench, A)).toEqual(ALL_WELL);
    expect(credentialsIn(bench.service.taken())).toEqual(new Set([`${keyOf('a')} ${secretOf('a')}`]));
    expect(await everyCall(bench, CHANNEL)).toEqual(ALL_WELL);
  });

  test.each([
    ['the settings, where the file has none', { channels: { [A]: entry('a') } }, 'env'],
    ['the file, where the settings have one too', { default: entry('default') }, 'default'],
  ])('uses the default of %s', async (_where, content, name) => {
    const bench = await Bench.start(content, { env: SETTINGS });
    expect(await everyCall(bench, CHANNEL)).toEqual(ALL_WELL);
    expect(credentialsIn(bench.service.taken())).toEqual(new Set([`${keyOf(name)} ${secretOf(name)}`]));
  });
});

describe('Without credentials for a channel', () => {
  test('nothing is sent, and the caller learns that it is not the caller', async () => {
    const bench = await Bench.start({ channels: { [A]: entry('a') } });
    const calls = CALLS.map(([, mutation, arm]) => validCall(mutation, arm));
    for (const call of calls) expect(await bench.money(call)).toBe(AUTH_FAILED);
    expect(await bench.lookUp('payment')).toBe(AUTH_FAILED);
    expect(await bench.lookUp('payout')).toBe(AUTH_FAILED);
    expect(bench.service.seen).toHaveLength(0);
    expect(bench.texts.join()).toContain('The gateway has no credentials for this channel');
    const told = bench.logLines.filter((line) => line.includes('NO_CREDENTIALS'));
    expect(told.length).toBeGreaterThanOrEqual(calls.length);
    told.forEach((line) => expect(line).toContain(CHANNEL));
    expect(await bench.lookUp('payment', A)).toBe('found');
  });

  test('the same calls succeed once there are some', async () => {
    const bench = await Bench.start({ channels: { [A]: entry('a') } });
    const calls = CALLS.map(([, mutation, arm]) => validCall(mutation, arm));
    for (const call of calls) expect(await bench.money(call)).toBe(AUTH_FAILED);
    await bench.reloaded(() => bench.write({ channels: { [A]: entry('a'), [CHANNEL]: entry('b') } }));
    const ends = [];
    for (const call of calls) ends.push(await bench.money(call));
    expect(ends).toEqual(ALL_WELL.slice(0, 3));
    expect(credentialsIn(bench.service.taken())).toEqual(new Set([`${keyOf('b')} ${secretOf('b')}`]));
  });
});

/** Calls of every kind at once; how each ended, and which external ids were to be created. */
async function manyAtOnce(bench: Bench, times: number): Promise<{ ends: unknown[]; externalIds: string[] }> {
  const kinds = ['createPayment', 'createPayout'] as const;
  const creates = Array.from({ length: times }, () => kinds.map((kind) => validCall(kind, 'other'))).flat();
  const lookUps = Array.from({ length: times }, () => bench.lookUp());
  const ends = await Promise.all([...creates.map((call) => bench.money(call)), ...lookUps]);
  return { ends, externalIds: creates.map(({ input }) => String(input['externalId'])) };
}

/** All of them succeeded, and each create was carried out once. */
function expectAllWell(
  { service }: Bench,
  { ends, externalIds }: Awaited<ReturnType<typeof manyAtOnce>>,
): void {
  expect(new Set(ends)).toEqual(new Set(['PaymentSuccess', 'PayoutSuccess', 'found']));
  expect(externalIds.map((externalId) => service.created.get(externalId))).toEqual(externalIds.map(() => 1));
}

/** Lets the service change over in the middle: from that many requests on it accepts another secret key only. */
function changeOverAfter(bench: Bench, requests: number, secretKey: string): void {
  let arrived = 0;
  bench.service.first = () => {
    arrived += 1;
    if (arrived === requests) bench.accept(secretKey);
    return undefined;
  };
}

const refusedOf = (requests: readonly SignedRequest[]): SignedRequest[] =>
  requests.filter(({ status }) => status === 401);

describe('While a secret key is being changed', () => {
  test.each([
    ['from the old to the new', OLD, NEW],
    ['back from the new to the old', NEW, OLD],
  ])('no call fails when the service goes %s among many calls', async (_way, before, after) => {
    const bench = await Bench.start(rotating(NEW, OLD));
    bench.accept(before);
    expect(await bench.lookUp()).toBe('found');
    bench.service.taken();
    changeOverAfter(bench, 18, after);
    expectAllWell(bench, await manyAtOnce(bench, 12));
    const accepted = bench.service.taken().filter(({ status }) => status < 300);
    expect(credentialsIn(accepted)).toEqual(
      new Set([`${keyOf('default')} ${before}`, `${keyOf('default')} ${after}`]),
    );
    expectAllWell(bench, await manyAtOnce(bench, 5));
    bench.service.taken();
    // What worked last is what is tried first.
    expectAllWell(bench, await manyAtOnce(bench, 5));
    const later = bench.service.taken();
    expect(refusedOf(later)).toEqual([]);
    expect(credentialsIn(later)).toEqual(new Set([`${keyOf('default')} ${after}`]));
  });

  test('the first is used while both are accepted', async () => {
    const bench = await Bench.start(rotating(NEW, OLD));
    bench.accept(OLD, NEW);
    expectAllWell(bench, await manyAtOnce(bench, 3));
    expect(credentialsIn(bench.service.taken())).toEqual(new Set([`${keyOf('default')} ${NEW}`]));
  });

  test('no call fails on the whole way from one to the next, and the operator can follow it', async () => {
    const bench = await Bench.start(rotating(OLD));
    bench.accept(OLD);
    expectAllWell(bench, await manyAtOnce(bench, 3));
    const during = manyAtOnce(bench, 12);
    await bench.reloaded(() => bench.write(rotating(NEW, OLD)));
    expectAllWell(bench, await during);
    bench.service.taken();
    // What was signed with until now stays first, as long as the service accepts it.
    expectAllWell(bench, await manyAtOnce(bench, 3));
    expect(refusedOf(bench.service.taken())).toEqual([]);
    changeOverAfter(bench, 18, NEW);
    expectAllWell(bench, await manyAtOnce(bench, 12));
    expectAllWell(bench, await manyAtOnce(bench, 1));
    const switched = bench.logLines.filter((line) => line.includes('changed over to another secret key'));
    expect(switched.map((line) => JSON.parse(line) as Json)).toMatchObject([
      { entry: 'default', secretKey: 1 },
    ]);
    const last = manyAtOnce(bench, 12);
    await bench.reloaded(() => bench.write(rotating(NEW)));
    expectAllWell(bench, await last);
    bench.service.taken();
    expectAllWell(bench, await manyAtOnce(bench, 3));
    expect(credentialsIn(bench.service.taken())).toEqual(new Set([`${keyOf('default')} ${NEW}`]));
    // The old one is gone for good: it is not tried any more.
    bench.accept(OLD);
    expect(await bench.money(validCall('createPayment', 'other'))).toBe(AUTH_FAILED);
    expect(credentialsIn(bench.service.taken())).toEqual(new Set([`${keyOf('default')} ${NEW}`]));
  });

  test('one channel that changes over leaves the others as they are', async () => {
    const bench = await Bench.start({
      default: { apiKey: keyOf('default'), secretKeys: [NEW, OLD] },
      channels: { [A]: { apiKey: keyOf('a'), secretKeys: [secretOf('a'), OLD] } },
    });
    bench.accept(OLD);
    expect(await bench.lookUp()).toBe('found');
    bench.service.taken();
    expect(await bench.lookUp('payment', A)).toBe('found');
    expect(bench.service.taken()).toMatchObject([{ secretKey: secretOf('a'), status: 200 }]);
  });

  test('a channel keeps to the key that works when its entry gets a new one', async () => {
    const entryWith = (...secretKeys: string[]): Json => ({
      channels: { [A]: { apiKey: keyOf('a'), secretKeys } },
    });
    const bench = await Bench.start(entryWith(OLD));
    bench.service.accepts.set(keyOf('a'), [OLD]);
    expect(await bench.lookUp('payment', A)).toBe('found');
    await bench.reloaded(() => bench.write(entryWith(NEW, OLD)));
    expect(await bench.lookUp('payment', A)).toBe('found');
    expect(bench.service.taken().map(({ status }) => status)).toEqual([200, 200]);
  });

  test.each(CALLS)(
    '%s that is refused with both is sent twice, and no more',
    async (_what, mutation, arm) => {
      const bench = await Bench.start(rotating(NEW, OLD), {
        env: { ...NO_SETTINGS, PAYOUT_PREFLIGHT: 'off' },
      });
      bench.accept(NEWER);
      expect(await bench.money(validCall(mutation, arm))).toBe(AUTH_FAILED);
      expect(bench.service.taken().map(({ secretKey, status }) => [secretKey, status])).toEqual([
        [NEW, 401],
        [OLD, 401],
      ]);
    },
  );

  test('a lookup that is refused with both is sent twice, and no more', async () => {
    const bench = await Bench.start(rotating(NEW, OLD));
    bench.accept(NEWER);
    expect(await bench.lookUp()).toBe(AUTH_FAILED);
    expect(bench.service.taken()).toHaveLength(2);
  });
});

const MINUTE = 60_000;

describe('Where the clock of the service differs too', () => {
  test.each([10, -10])('by %i minutes, both are mended by one call, and kept', async (minutes) => {
    const bench = await Bench.start(rotating(NEW, OLD));
    bench.accept(OLD);
    bench.service.clockOffsetMs = minutes * MINUTE;
    expect(await bench.money(validCall('createPayment', 'other'))).toBe('PaymentSuccess');
    expect(bench.service.taken().map(({ secretKey, status }) => [secretKey, status])).toEqual([
      [NEW, 401],
      [NEW, 401],
      [OLD, 201],
    ]);
    expectAllWell(bench, await manyAtOnce(bench, 3));
    expect(refusedOf(bench.service.taken())).toEqual([]);
  });

  test('and it refuses everything, no call is sent more than three times', async () => {
    const bench = await Bench.start(rotating(NEW, OLD));
    bench.accept(NEWER);
    bench.service.saysOffsetMs = 20 * MINUTE;
    expect(await bench.money(validCall('createPayment', 'other'))).toBe(AUTH_FAILED);
    expect(bench.service.taken()).toHaveLength(3);
  });

  test('a channel with bad credentials does not disturb what is known of the clock', async () => {
    const bench = await Bench.start({ default: entry('default'), channels: { [A]: entry('unused') } });
    bench.service.accepts.delete(keyOf('unused'));
    bench.service.clockOffsetMs = 10 * MINUTE;
    expect(await bench.lookUp()).toBe('found');
    bench.service.taken();
    expect(await bench.lookUp('payment', A)).toBe(AUTH_FAILED);
    expect(await bench.lookUp()).toBe('found');
    expect(bench.service.taken().map(({ status }) => status)).toEqual([401, 200]);
  });
});

describe('When the file changes', () => {
  test('a call under way keeps to the credentials that it began with', async () => {
    const bench = await Bench.start(rotating(NEW, OLD));
    const [held, arrived] = [gate(), gate()];
    bench.accept(OLD);
    bench.service.first = () => {
      arrived.open();
      return bench.service.seen.length === 1 ? held.opened : undefined;
    };
    const call = bench.money(validCall('createPayment', 'other'));
    await arrived.opened;
    await bench.reloaded(() => bench.write({ default: { apiKey: keyOf('newer'), secretKeys: [NEWER] } }));
    held.open();
    expect(await call).toBe('PaymentSuccess');
    expect(bench.service.taken().map(({ apiKey, secretKey }) => [apiKey, secretKey])).toEqual([
      [keyOf('default'), NEW],
      [keyOf('default'), OLD],
    ]);
    expect(await bench.money(validCall('createPayment', 'other'))).toBe('PaymentSuccess');
    expect(credentialsIn(bench.service.taken())).toEqual(new Set([`${keyOf('newer')} ${NEWER}`]));
  });

  test('what it repeats of keys that nothing is signed with is still not told to anybody', async () => {
    const bench = await Bench.start(
      {
        default: { apiKey: keyOf('default'), secretKeys: [secretOf('default'), OLD] },
        channels: { [A]: entry('a'), [B]: { apiKey: keyOf('b'), secretKeys: [secretOf('b'), NEW] } },
      },
      { env: SETTINGS },
    );
    await bench.reloaded(() =>
      bench.write({
        default: { apiKey: keyOf('default'), secretKeys: [secretOf('default'), NEWER] },
        channels: { [A]: entry('a'), [B]: { apiKey: keyOf('b'), secretKeys: [secretOf('b'), NEW] } },
      }),
    );
    const known = [
      ...['default', 'a', 'b', 'env'].flatMap((name) => [keyOf(name), secretOf(name)]),
      NEW,
      NEWER,
    ];
    for (const value of known) {
      bench.service.instead = () => ({ status: 400, json: { message: `${value} may not do that` } });
      expect(await bench.money(validCall('createPayment', 'other'), A)).toBe('RejectedByServiceError');
      expect(await bench.lookUp('payment', A)).toBe('BAD_USER_INPUT');
    }
    bench.service.instead = () => ({ status: 400, json: { message: 'you may not do that' } });
    await bench.money(validCall('createPayment', 'other'), A);
    expect(bench.texts.at(-1)).toContain('you may not do that');
  });

  test('only a file that it names, that is noticed too', async () => {
    const bench = await Bench.start(
      { channels: { [A]: { apiKey: keyOf('a'), secretKeyFiles: ['secret'] } } },
      { beside: { secret: OLD } },
    );
    bench.service.accepts.set(keyOf('a'), [NEW]);
    expect(await bench.lookUp('payment', A)).toBe(AUTH_FAILED);
    await bench.reloaded(() => writeFileSync(bench.beside('secret'), NEW));
    expect(await bench.lookUp('payment', A)).toBe('found');
  });

  test('by a link that is swapped, as mounted secrets are, all of it is taken at once', async () => {
    const mount = newFolder();
    const publish = (version: string, name: string): void => {
      mkdirSync(path.join(mount, version));
      writeFileSync(path.join(mount, version, 'key'), keyOf(name));
      writeFileSync(path.join(mount, version, 'secret'), secretOf(name));
      symlinkSync(version, path.join(mount, '..data_tmp'));
      renameSync(path.join(mount, '..data_tmp'), path.join(mount, '..data'));
    };
    publish('..1', 'old');
    for (const name of ['key', 'secret']) symlinkSync(path.join('..data', name), path.join(mount, name));
    const bench = await Bench.start({
      default: { apiKeyFile: path.join(mount, 'key'), secretKeyFiles: [path.join(mount, 'secret')] },
    });
    expect(await bench.lookUp()).toBe('found');
    await bench.reloaded(() => publish('..2', 'new'));
    expect(await bench.lookUp()).toBe('found');
    expect(bench.service.taken().map(({ apiKey, secretKey }) => [apiKey, secretKey])).toEqual([
      [keyOf('old'), OLD],
      [keyOf('new'), NEW],
    ]);
  });

  test('to what cannot be used, the credentials before stay until it is right again', async () => {
    const bench = await Bench.start(
      { default: { apiKey: keyOf('default'), secretKeyFiles: ['secret'] } },
      { beside: { secret: secretOf('default') } },
    );
    const broken: [change: () => void, why: string][] = [
      [() => bench.write(`{"default": "${CANARY}`), 'it is not JSON'],
      [() => bench.write({ default: { ...entry('a'), more: CANARY } }), 'default: holds more than'],
      [() => rmSync(bench.file), 'it cannot be read (ENOENT)'],
      [
        () => bench.write({ default: { apiKey: keyOf('default'), secretKeyFiles: [`${CANARY}-none`] } }),
        'default: secretKeyFiles[0]: expected a file that can be read (ENOENT)',
      ],
      [() => bench.write({}), 'expected default or channels'],
    ];
    for (const [change, why] of broken) {
      await bench.refused(change);
      const line = bench.logLines.filter((one) => one.includes('the credentials before stay')).at(-1);
      expect(line).toContain(`"why":"${why}`);
      expect(line).toContain('"level":50');
      expect(await bench.lookUp()).toBe('found');
    }
    await bench.reloaded(() => bench.write({ default: entry('newer') }));
    expect(await bench.lookUp()).toBe('found');
    expect(bench.service.taken().at(-1)).toMatchObject({ apiKey: keyOf('newer'), secretKey: NEWER });
  });
});

const good = entry('a');
const ENTRY = 'an object with apiKey or apiKeyFile, and secretKeys or secretKeyFiles';
const TEXT = 'printable ASCII characters without blanks, 1024 at most';

/** What is wrong with a file, its content, and what the gateway says of it. */
const FAULTS: [what: string, content: unknown, says: string][] = [
  ['it is no JSON', `{"default": {"apiKey": "${CANARY}"`, 'it is not JSON'],
  ['it is a list', [good], 'expected a JSON object with default and channels'],
  ['it has another field', { default: good, [CANARY]: 1 }, 'holds more than default and channels'],
  ['it has nothing in it', {}, 'expected default or channels: there are no credentials at all'],
  [
    'a name stands twice',
    `{"default": ${JSON.stringify(good)}, "channels": {"${A}": ${JSON.stringify(good)}, "${A}": ${JSON.stringify(good)}}}`,
    'a name stands twice in one object',
  ],
  ['the default is a text', { default: CANARY }, `default: expected ${ENTRY}`],
  ['the default is null', { default: null, channels: { [A]: good } }, `default: expected ${ENTRY}`],
  ['an entry has another field', { default: { ...good, [CANARY]: 1 } }, `default: holds more than ${ENTRY}`],
  [
    'there is no key',
    { default: { secretKeys: [CANARY] } },
    'default: expected one of apiKey and apiKeyFile',
  ],
  [
    'there are two keys',
    { default: { ...good, apiKeyFile: CANARY } },
    'default: expected one of apiKey and apiKeyFile',
  ],
  [
    'there is no secret',
    { default: { apiKey: CANARY } },
    'default: expected one of secretKeys and secretKeyFiles',
  ],
  [
    'secrets stand there in both ways',
    { default: { ...good, secretKeyFiles: [CANARY] } },
    'default: expected one of secretKeys and secretKeyFiles',
  ],
  ['a key is a number', { default: { ...good, apiKey: 4111 } }, `default: apiKey: expected ${TEXT}`],
  ['a key is empty', { default: { ...good, apiKey: '' } }, `default: apiKey: expected ${TEXT}`],
  ['a key has a blank', { default: { ...good, apiKey: `${CANARY} 1` } }, `default: apiKey: expected ${TEXT}`],
  [
    'a key would end its header',
    { default: { ...good, apiKey: `${CANARY}\r\nx-evil: 1` } },
    `default: apiKey: expected ${TEXT}`,
  ],
  [
    'a key has a letter beyond ASCII',
    { default: { ...good, apiKey: `${CANARY}é` } },
    `default: apiKey: expected ${TEXT}`,
  ],
  [
    'a key is too long',
    { default: { ...good, apiKey: CANARY.repeat(200) } },
    `default: apiKey: expected ${TEXT}`,
  ],
  ...[CANARY, [], [CANARY, '2', '3'], { 0: CANARY }].map((secretKeys): (typeof FAULTS)[number] => [
    `the secrets are ${JSON.stringify(secretKeys)}`,
    { channels: { [A]: { apiKey: CANARY, secretKeys } } },
    `channels.${A}: secretKeys: expected a list of one, or of two while the key is being changed`,
  ]),
  [
    'the second secret is null',
    { channels: { [A]: { apiKey: CANARY, secretKeys: [CANARY, null] } } },
    `channels.${A}: secretKeys[1]: expected ${TEXT}`,
  ],
  [
    'both secrets are the same',
    { channels: { [A]: { apiKey: CANARY, secretKeys: [CANARY, CANARY] } } },
    `channels.${A}: secretKeys: the two are the same`,
  ],
  [
    'the path of a file is a number',
    { default: { apiKey: CANARY, secretKeyFiles: [7] } },
    'default: secretKeyFiles[0]: expected the path of a file',
  ],
  [
    'a file is not there',
    { default: { apiKey: CANARY, secretKeyFiles: [`/nowhere/${CANARY}`] } },
    'default: secretKeyFiles[0]: expected a file that can be read (ENOENT)',
  ],
  [
    'a file is a folder',
    { default: { apiKeyFile: '.', secretKeys: [CANARY] } },
    'default: apiKeyFile: expected a file that can be read (EISDIR)',
  ],
  [
    'a path cannot be one',
    { default: { apiKeyFile: `${CANARY}\0`, secretKeys: [CANARY] } },
    'default: apiKeyFile: expected a file that can be read (ERR_INVALID_ARG_VALUE)',
  ],
  [
    'a file holds two lines',
    { default: { apiKeyFile: 'two-lines', secretKeys: [CANARY] } },
    `default: apiKeyFile: expected a file of ${TEXT}`,
  ],
  [
    'the channels are a list',
    { channels: [good] },
    'channels: expected an object with an entry for each channel',
  ],
  [
    'the channels are null',
    { channels: null },
    'channels: expected an object with an entry for each channel',
  ],
  [
    'a channel is no UUID',
    { channels: { [A]: good, [CANARY]: good } },
    'channels: entry 2: expected the UUID of a channel',
  ],
  [
    'a channel stands twice',
    { channels: { [A]: good, [A.toUpperCase()]: good } },
    `channels.${A}: stands there twice, in upper and lower case`,
  ],
  ['a channel has no entry', { channels: { [A]: [] } }, `channels.${A}: expected ${ENTRY}`],
];

/** What a gateway says that does not start with these settings. */
async function startFault(env: Record<string, string>): Promise<string> {
  const config = readConfig({
    ...testSettings(),
    PORT: '0',
    SERVICE_BASE_URL: 'https://service.example.com/',
    ...env,
  });
  const journals: Awaited<ReturnType<typeof openJournal>>[] = [];
  const open = async (url: string) => {
    const journal = await openJournal(url);
    journals.push(journal);
    return journal;
  };
  const start = startGateway(config, pino({ level: 'silent' }), undefined, { open });
  const says = await start.then(
    async (gateway) => {
      await gateway.close();
      return 'started';
    },
    (error: unknown) => `${String(error)} ${JSON.stringify(error)}`,
  );
  await Promise.all(journals.map((journal) => journal.close()));
  return says;
}

describe('The gateway does not start when in the file', () => {
  test.each(FAULTS)('%s', async (_what, content, says) => {
    const folder = newFolder();
    const file = path.join(folder, 'credentials.json');
    writeFileSync(file, textOf(content));
    writeFileSync(path.join(folder, 'two-lines'), `${CANARY}\n${CANARY}\n`);
    const fault = await startFault({ ...NO_SETTINGS, SERVICE_CREDENTIALS_FILE: file });
    expect(fault).toContain(`The settings are wrong:\n  SERVICE_CREDENTIALS_FILE: ${says}.`);
    expect(fault).not.toContain(CANARY);
  });
});

test('The gateway does not start without the file', async () => {
  const fault = await startFault({
    ...NO_SETTINGS,
    SERVICE_CREDENTIALS_FILE: path.join(newFolder(), 'none'),
  });
  expect(fault).toContain('  SERVICE_CREDENTIALS_FILE: it cannot be read (ENOENT).');
});

test.each(['SERVICE_API_KEY', 'SERVICE_SECRET_KEY'])(
  'The gateway does not start with half of a default: %s alone',
  async (name) => {
    const file = path.join(newFolder(), 'credentials.json');
    writeFileSync(file, JSON.stringify({ default: entry('a') }));
    const env = { ...NO_SETTINGS, [name]: CANARY, SERVICE_CREDENTIALS_FILE: file };
    const fault = await startFault(env);
    expect(fault).toContain('  SERVICE_API_KEY and SERVICE_SECRET_KEY: set both or neither.');
    expect(fault).not.toContain(CANARY);
  },
);

test('The sandbox is not shown what is meant for a real service', async () => {
  const sandbox = await testSandbox({ apiKey: 'sandbox-api-key', secretKey: 'sandbox-secret-key' });
  const file = path.join(newFolder(), 'credentials.json');
  writeFileSync(file, JSON.stringify({ default: entry('a') }));
  const config = readConfig({ ...testSettings(), ...NO_SETTINGS, PORT: '0', SERVICE_CREDENTIALS_FILE: file });
  const logLines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void logLines.push(line) });
  const service = { ...config.service, baseUrl: sandbox.url };
  const client = new TestClient(
    closeAfterTests(await startGateway({ ...config, service }, log, undefined, { open: openPatiently })),
  );
  const { result } = await make(client, validCall('createPayment', 'other'));
  expect(result?.__typename).toBe('PaymentSuccess');
  expect(logLines.join('')).toContain('SERVICE_CREDENTIALS_FILE is not read: this is the sandbox');
});
