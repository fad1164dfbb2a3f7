import { pino } from 'pino';
import { systemClock, type Clock } from '../../../src/clock';
import { readConfig } from '../../../src/config';
import type { Journal } from '../../../src/datasources/journal/journal';
import { startGateway, type Gateway, type OpenJournal } from '../../../src/gateway';
import { AdvancingClock } from '../../../src/sandbox/clock';
import { API_KEY, SECRET_KEY, testSettings, openWithClock } from '../../support/gateway';
import { FaultyService } from '../service/faulty-service';
import { Caller } from './caller';
import { POSTGRES_URL, openStore, postgresAnswers, type Store, type StoreKind } from './stores';

/** A deadline for calls to the service that tests can wait for. */
export const TIMEOUT_MS = 600;

/** A gateway with a journal, before a service that fails at will; all over real sockets. */
export class Rig extends Caller {
  readonly parts: { gateway: Gateway; service: FaultyService; store: Store; clock: AdvancingClock };

  constructor(parts: Rig['parts']) {
    super(parts.gateway.url);
    this.parts = parts;
  }

  #closed: Promise<void> | undefined;

  /** Closes the gateway. */
  close(): Promise<void> {
    this.#closed ??= this.parts.gateway.close();
    return this.#closed;
  }

  get service(): FaultyService {
    return this.parts.service;
  }

  get store(): Store {
    return this.parts.store;
  }

  /** The clock of the gateway and the service; what falls due in the gateway goes off when it is moved. */
  get clock(): AdvancingClock {
    return this.parts.clock;
  }
}

interface RigOptions {
  store: Store;
  env?: Record<string, string>;
  /** Shared with another gateway; a new one otherwise. */
  service?: FaultyService;
  clock?: AdvancingClock;
  /** What the journal says the time is; the gateway's clock otherwise. */
  journalClock?: Pick<Clock, 'now'>;
  logLines?: string[];
  /** Makes the opened journal fail at will. */
  wrap?(journal: Journal): Journal;
  /** Opens the journal: a patient one where the test does not say otherwise. */
  open?: OpenJournal;
}

export interface Rigs {
  kind: StoreKind;
  /** A gateway, before a service of its own where none is given; on the store of this block where none is given. */
  start(options?: Partial<RigOptions>): Promise<Rig>;
  /** Closed when the block ends, last come first. */
  closeAtEnd(close: () => Promise<unknown>): void;
}

async function startRig(options: RigOptions): Promise<Rig> {
  const clock = options.clock ?? new AdvancingClock(systemClock);
  const service = options.service ?? (await FaultyService.start(() => clock.now()));
  const config = readConfig({
    ...testSettings(),
    PORT: '0',
    SERVICE_BASE_URL: service.url,
    SERVICE_API_KEY: API_KEY,
    SERVICE_SECRET_KEY: SECRET_KEY,
    SERVICE_TIMEOUT_MS: String(TIMEOUT_MS),
    DATABASE_URL: options.store.url,
    ...options.env,
  });
  const sink = { write: (line: string) => void options.logLines?.push(line) };
  const log = pino({ level: options.logLines ? 'trace' : 'silent' }, sink);
  const { wrap = (journal) => journal } = options;
  const timed = openWithClock(options.journalClock ?? clock, options.open);
  const open: OpenJournal = async (url) => wrap(await timed(url));
  const gateway = await startGateway(config, log, clock, { open });
  return new Rig({ gateway, service, store: options.store, clock });
}

function defineBlock(name: string, kind: StoreKind, define: (rigs: Rigs) => void): void {
  describe(name, () => {
    const closers: (() => Promise<unknown>)[] = [];
    let shared: Promise<Store> | undefined;
    const store = async (): Promise<Store> => {
      shared ??= openStore(kind).then((opened) => {
        // Whatever uses it closes before.
        closers.unshift(() => opened.drop());
        return opened;
      });
      return shared;
    };
    afterAll(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });
    define({
      kind,
      closeAtEnd: (close) => void closers.push(close),
      start: async (options = {}) => {
        const rig = await startRig({ store: await store(), ...options });
        if (!options.service) closers.push(() => rig.service.close());
        closers.push(() => rig.close());
        return rig;
      },
    });
  });
}

const answers = postgresAnswers();

/** The same tests against both stores, the real thing each. */
export function describeStores(name: string, define: (rigs: Rigs) => void): void {
  defineBlock(`${name} (SQLite)`, 'SQLite', define);
  if (answers) return defineBlock(`${name} (PostgreSQL)`, 'PostgreSQL', define);
  console.warn(`SKIPPED: "${name}" against PostgreSQL. None answers at TEST_DATABASE_URL.`);
  describe.skip(`${name} (PostgreSQL; SKIPPED, none answers: ${new URL(POSTGRES_URL).host})`, () => {
    test('needs a PostgreSQL', () => undefined);
  });
}

/** Tests of what does not depend on the store. */
export const describeSqlite = (name: string, define: (rigs: Rigs) => void): void =>
  defineBlock(name, 'SQLite', define);

let keys = 0;

/** A key that no test used before. */
export const newKey = (): string =>
  `key-${process.pid}-${(keys += 1)}-${Math.random().toString(36).slice(2)}`;
