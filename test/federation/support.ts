import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { startStandaloneServer } from '@apollo/server/standalone';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { TOP, readPage } from '../docs/support/markdown';
import { closeAfterTests, temporaryFolder } from '../support/cleanup';

const SAMPLES = readPage('docs/federation.md').fences;

export const sample = (name: string): string => SAMPLES.find(({ words }) => words[0] === name)!.code;

export const subgraphText = (): string => readFileSync(path.join(TOP, 'subgraph.graphql'), 'utf8');

export interface Order {
  id: string;
  paymentId: string | null;
}

/** Starts a shop's own subgraph, with orders that refer to payments by their ids. Returns its URL. */
export async function ordersSubgraph(orders: () => readonly Order[]): Promise<string> {
  const schema = buildSubgraphSchema({
    typeDefs: parse(sample('orders.graphql')),
    resolvers: {
      Query: { orders },
      Order: { payment: ({ paymentId }: Order) => paymentId && { id: paymentId } },
      PaymentResource: {
        __resolveReference: ({ id }: { id: string }) => ({ id }),
        order: ({ id }: { id: string }) => orders().find(({ paymentId }) => paymentId === id),
      },
    },
  });
  const server = new ApolloServer({ schema, plugins: [ApolloServerPluginInlineTraceDisabled()] });
  closeAfterTests({ close: () => server.stop() });
  return (await startStandaloneServer(server, { listen: { host: '127.0.0.1', port: 0 } })).url;
}

/** Composes the supergraph and starts the router with the samples of docs/federation.md. Returns its URL. */
export async function startRouter(payments: string, orders: string): Promise<string> {
  const folder = temporaryFolder();
  symlinkSync(path.join(TOP, 'node_modules'), path.join(folder, 'node_modules'));
  copyFileSync(path.join(TOP, 'subgraph.graphql'), path.join(folder, 'subgraph.graphql'));
  for (const name of ['orders.graphql', 'compose.mjs', 'router.mjs']) {
    const code = sample(name)
      .replace('https://gateway.example/graphql', payments)
      .replace('https://orders.example/graphql', orders)
      .replace('port: 4000', 'port: 0');
    writeFileSync(path.join(folder, name), code);
  }
  const composed = spawnSync(process.execPath, ['compose.mjs'], { cwd: folder, encoding: 'utf8' });
  if (composed.status !== 0) throw new Error(composed.stderr);
  const router = spawn(process.execPath, ['router.mjs'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(router, 'exit');
  closeAfterTests({
    close: async () => {
      router.kill('SIGKILL');
      await exited;
    },
  });
  let output = '';
  for await (const chunk of router.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    const [, url] = /listens at (http\S+)/.exec(output) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`The router has ended: ${output}`);
}
