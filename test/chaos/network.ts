import path from 'node:path';
import type { ProgramOptions } from '../support/program';
import { TcpProxy } from '../support/tcp-proxy';
import type { ChaosDatabase } from './database';
import { pause, type Random } from './random';

/** Maximum duration in ms of a delay of requests to the service: shorter than the gateway's timeout. */
const MAX_SERVICE_DELAY_MS = 700;
const MAX_PARTITION_MS = 4000;
const PRELOADED = path.join(__dirname, 'localhost.cjs');

interface Links {
  service: TcpProxy;
  database: TcpProxy[];
}

interface NetworkOptions {
  database: ChaosDatabase;
  random: Random;
  onFault(name: string): void;
}

type Effect = (proxy: TcpProxy) => unknown;

/** Effects of partitions on each proxy, when they begin and when they end. */
const PARTITIONS: readonly (readonly [kind: string, begin: Effect, end: Effect])[] = [
  ['refused', (proxy) => proxy.refuse(), (proxy) => proxy.listen()],
  ['silent, then reset', (proxy) => proxy.pause(), (proxy) => (proxy.destroyConnections(), proxy.resume())],
  [
    'dropping bytes',
    (proxy) => (proxy.discards = true),
    (proxy) => (proxy.destroyConnections(), (proxy.discards = false)),
  ],
  ['delayed', (proxy) => proxy.pause(), (proxy) => proxy.resume()],
];

/** Returns the loopback address that a gateway reaches as localhost. */
const addressOf = (place: number): string => `127.0.0.${place + 2}`;

export class Network {
  readonly #links: Links[] = [];
  changes = 0;

  private constructor(private readonly options: NetworkOptions) {}

  static async open(gateways: number, serviceUrl: string, options: NetworkOptions): Promise<Network> {
    const network = new Network(options);
    for (let place = 0; place < gateways; place += 1) {
      const port = network.#links[0]?.service.port;
      network.#links.push({
        service: await TcpProxy.to(serviceUrl, { address: addressOf(place), port }),
        database: await Promise.all(options.database.servers.map((url) => TcpProxy.to(url))),
      });
    }
    return network;
  }

  optionsOf(place: number, env: Record<string, string>): ProgramOptions {
    const { service, database } = this.#links[place]!;
    return {
      serviceUrl: `http://localhost:${service.port}/`,
      databaseUrl: this.options.database.urlFor(database),
      env: { ...env, NODE_OPTIONS: `--require=${PRELOADED}`, LOOPBACK_ADDRESS: addressOf(place) },
    };
  }

  async randomFault(): Promise<void> {
    const { random, database } = this.options;
    const links = random.chance(0.3) ? this.#links : [random.one(this.#links)];
    const services = links.map(({ service }) => service);
    const databases = links.flatMap((link) => link.database);
    const isSqlite = databases.length === 0;
    const disconnect = (): Promise<void> => database.disconnect(random.between(100, 1200));
    await random.weighted<() => Promise<void>>([
      [45, () => this.#partition('service', services, MAX_SERVICE_DELAY_MS)],
      [isSqlite ? 0 : 40, () => this.#partition('database', databases, MAX_PARTITION_MS)],
      [isSqlite ? 40 : 15, () => this.#cause('database disconnected', disconnect)],
    ])();
  }

  async failOver(): Promise<void> {
    await this.#cause('failover', async () =>
      this.options.database.failOver?.((server, url) => {
        for (const { database } of this.#links) database[server]!.redirect(url);
      }),
    );
  }

  async close(): Promise<void> {
    const proxies = this.#links.flatMap(({ service, database }) => [service, ...database]);
    await Promise.all(proxies.map((proxy) => proxy.close()));
  }

  async #cause(name: string, fault: () => Promise<unknown>): Promise<void> {
    this.options.onFault(name);
    this.changes += 1;
    await fault();
    this.changes += 1;
  }

  #partition(name: string, proxies: readonly TcpProxy[], maxDelayMs: number): Promise<void> {
    const { random } = this.options;
    const [kind, begin, end] = random.one(PARTITIONS);
    const ms = random.between(300, MAX_PARTITION_MS);
    return this.#cause(`${name} ${kind}`, async () => {
      await Promise.all(proxies.map(begin));
      await pause(kind === 'delayed' ? Math.min(ms, maxDelayMs) : ms);
      await Promise.all(proxies.map(end));
    });
  }
}
