import path from 'node:path';
import type { Recorder } from '../history/recorder';
import type { ProgramOptions } from '../support/program';
import { TcpProxy } from '../support/tcp-proxy';
import type { ChaosDatabase } from './database';
import { pause, type Random, type Tally } from './random';

/** Maximum duration in ms of a delay of requests to the service: shorter than the gateway's timeout. */
const MAX_SERVICE_DELAY_MS = 700;
const MAX_PARTITION_MS = 4000;
const PRELOADED = path.join(__dirname, 'localhost.cjs');

/** The connections of one gateway, through proxies of its own. */
interface Links {
  service: TcpProxy;
  database: TcpProxy[];
}

/** Returns the loopback address that a gateway reaches as localhost. */
const addressOf = (place: number): string => `127.0.0.${place + 2}`;

type Fault = (proxies: readonly TcpProxy[]) => Promise<void>;

/** The network between gateways, payment service and database, and its partitions. */
export class Network {
  readonly #links: Links[] = [];
  /** Number of faults that have begun or ended. */
  changes = 0;

  private constructor(
    private readonly database: ChaosDatabase,
    private readonly random: Random,
    private readonly faults: Tally,
    private readonly recorder: Recorder,
  ) {}

  static async open(
    gateways: number,
    serviceUrl: string,
    options: { database: ChaosDatabase; random: Random; faults: Tally; recorder: Recorder },
  ): Promise<Network> {
    const { database, random, faults, recorder } = options;
    const network = new Network(database, random, faults, recorder);
    for (let place = 0; place < gateways; place += 1) {
      const port = network.#links[0]?.service.port;
      network.#links.push({
        service: await TcpProxy.to(serviceUrl, { address: addressOf(place), port }),
        database: await Promise.all(database.servers.map((url) => TcpProxy.to(url))),
      });
    }
    return network;
  }

  /** Returns the addresses that a gateway uses. */
  optionsOf(place: number): ProgramOptions {
    const { service, database } = this.#links[place]!;
    return {
      serviceUrl: `http://localhost:${service.port}/`,
      databaseUrl: this.database.urlFor(database),
      env: { NODE_OPTIONS: `--require=${PRELOADED}`, LOOPBACK_ADDRESS: addressOf(place) },
    };
  }

  /** Causes a random fault between one gateway, or all of them, and the service or the database. */
  async randomFault(): Promise<void> {
    const { random } = this;
    const links = random.chance(0.3) ? this.#links : [random.one(this.#links)];
    const service = links.map((link) => link.service);
    const database = links.flatMap((link) => link.database);
    const isSqlite = database.length === 0;
    const partition = (name: string, proxies: TcpProxy[], maxDelayMs: number) => async (): Promise<void> => {
      const [kind, fault] = this.#partition(maxDelayMs);
      await this.#cause(`${name} ${kind}`, () => fault(proxies));
    };
    await random.weighted<() => Promise<void>>([
      [45, partition('service', service, MAX_SERVICE_DELAY_MS)],
      [isSqlite ? 0 : 40, partition('database', database, MAX_PARTITION_MS)],
      [
        isSqlite ? 40 : 15,
        () => this.#cause('database disconnected', () => this.database.disconnect(random.between(100, 1200))),
      ],
    ])();
  }

  /** Kills the primary of the database and promotes its standby. Does nothing without replication. */
  async failOver(): Promise<void> {
    await this.#cause('failover', async () =>
      this.database.failOver?.((server, url) => {
        for (const { database } of this.#links) database[server]!.redirect(url);
      }),
    );
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#links.flatMap(({ service, database }) => [service, ...database]).map((proxy) => proxy.close()),
    );
  }

  async #cause(name: string, fault: () => Promise<unknown>): Promise<void> {
    this.faults.add(name);
    this.recorder.fault(name);
    this.changes += 1;
    await fault();
    this.changes += 1;
    this.recorder.fault(`${name} ended`);
  }

  #partition(maxDelayMs: number): [kind: string, fault: Fault] {
    const ms = this.random.between(300, MAX_PARTITION_MS);
    return this.random.one<[string, Fault]>([
      [
        'refused',
        async (proxies) => {
          await Promise.all(proxies.map((proxy) => proxy.refuse()));
          await pause(ms);
          await Promise.all(proxies.map((proxy) => proxy.listen()));
        },
      ],
      [
        'silent, then reset',
        async (proxies) => {
          for (const proxy of proxies) proxy.pause();
          await pause(ms);
          for (const proxy of proxies) {
            proxy.destroyConnections();
            proxy.resume();
          }
        },
      ],
      [
        'dropping bytes',
        async (proxies) => {
          for (const proxy of proxies) proxy.discards = true;
          await pause(ms);
          for (const proxy of proxies) {
            proxy.destroyConnections();
            proxy.discards = false;
          }
        },
      ],
      [
        'delayed',
        async (proxies) => {
          for (const proxy of proxies) proxy.pause();
          await pause(Math.min(ms, maxDelayMs));
          for (const proxy of proxies) proxy.resume();
        },
      ],
    ]);
  }
}
