import { randomBytes } from 'node:crypto';
import { systemClock, type Clock } from '../../src/shared/clock';
import { readConfig } from '../../src/config';
import type { Journal } from '../../src/datasources/journal/journal';
import { startGateway, type Gateway, type JournalOpener } from '../../src/app/gateway';
import { AdvancingClock } from '../../src/sandbox/clock';
import { Caller } from './caller';
import { logTo, openWithClock, serviceSettings } from './gateway';
import { FakePaymentService } from './payment-service/fake-payment-service';
import { describePostgres, openStore, type Store, type StoreKind } from './stores';
import { SERVICE_TIMEOUT_MS } from './timeouts';

/** A gateway with a journal, and a fake payment service, over real sockets. */
export class Harness extends Caller {
  readonly service: FakePaymentService;
  readonly store: Store;
  /** The clock of gateway and service; timers of the gateway fire when it is advanced. */
  readonly clock: AdvancingClock;
  #closed: Promise<void> | undefined;

  constructor(readonly parts: { gateway: Gateway } & Pick<Harness, 'service' | 'store' | 'clock'>) {
    super(parts.gateway.url);
    ({ service: this.service, store: this.store, clock: this.clock } = parts);
  }

  close(): Promise<void> {
    this.#closed ??= this.parts.gateway.close();
    return this.#closed;
  }
}

interface HarnessOptions {
  store: Store;
  env?: Record<string, string>;
  /** A service that another gateway uses too; by default a new one. */
  service?: FakePaymentService;
  clock?: AdvancingClock;
  /** The clock of the journal; by default the gateway's clock. */
  journalClock?: Pick<Clock, 'now'>;
  logLines?: string[];
  /** Replaces the opened journal, for example to inject faults. */
  wrap?(journal: Journal): Journal;
  open?: JournalOpener;
}

export interface Harnesses {
  kind: StoreKind;
  /** Starts a gateway, with its own service and the store of this block unless given. */
  start(options?: Partial<HarnessOptions>): Promise<Harness>;
  /** Registers a function that is called when the block ends, in reverse order of registration. */
  closeAtEnd(close: () => Promise<unknown>): void;
}

async function startHarness(options: HarnessOptions): Promise<Harness> {
  const clock = options.clock ?? new AdvancingClock(systemClock);
  const service = options.service ?? (await FakePaymentService.start(() => clock.now()));
  const config = readConfig({
    ...serviceSettings(service.url),
    SERVICE_TIMEOUT_MS: String(SERVICE_TIMEOUT_MS),
    DATABASE_URL: options.store.url,
    ...options.env,
  });
  const { wrap = (journal) => journal } = options;
  const timed = openWithClock(options.journalClock ?? clock, options.open);
  const openJournal: JournalOpener = async (url) => wrap(await timed(url));
  const gateway = await startGateway(config, logTo(options.logLines), clock, { openJournal });
  return new Harness({ gateway, service, store: options.store, clock });
}

function defineBlock(kind: StoreKind, define: (harnesses: Harnesses) => void): void {
  const closers: (() => Promise<unknown>)[] = [];
  let shared: Promise<Store> | undefined;
  const openShared = async (): Promise<Store> => {
    const store = await openStore(kind);
    // The store is dropped last.
    closers.unshift(() => store.drop());
    return store;
  };
  afterAll(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  define({
    kind,
    closeAtEnd: (close) => void closers.push(close),
    start: async (options = {}) => {
      const harness = await startHarness({ store: await (shared ??= openShared()), ...options });
      if (!options.service) closers.push(() => harness.service.close());
      closers.push(() => harness.close());
      return harness;
    },
  });
}

/** `describe` for tests that do not depend on the kind of store. */
export const describeSqlite = (name: string, define: (harnesses: Harnesses) => void): void =>
  describe(name, () => defineBlock('SQLite', define));

/** `describe` for tests of PostgreSQL alone. */
export const describePostgresStore = (name: string, define: (harnesses: Harnesses) => void): void =>
  describePostgres(name, () => defineBlock('PostgreSQL', define));

export function describeStores(name: string, define: (harnesses: Harnesses) => void): void {
  describeSqlite(`${name} (SQLite)`, define);
  describePostgresStore(`${name} (PostgreSQL)`, define);
}

/** Returns a key without digits, because random digits can look like a card number, which is rejected. */
export const newKey = (): string =>
  `key-${randomBytes(12)
    .toString('hex')
    .replace(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)))}`;
