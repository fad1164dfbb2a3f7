import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { startStandaloneServer } from '@apollo/server/standalone';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { closeAfterTests } from '../../support/gateway';
import { sample } from './samples';

interface Order {
  id: string;
  paymentId: string | null;
}

/** A shop's own subgraph: orders that refer to payments by their ids. */
export interface OrdersSubgraph {
  url: string;
  /** The orders that the subgraph returns; set by tests. */
  orders: Order[];
  close(): Promise<void>;
}

const reference = ({ paymentId }: Order) => paymentId && { id: paymentId };

export async function ordersSubgraph(): Promise<OrdersSubgraph> {
  const data: { orders: Order[] } = { orders: [] };
  const schema = buildSubgraphSchema({
    typeDefs: parse(sample('orders.graphql')),
    resolvers: {
      Query: { orders: () => data.orders },
      Order: { payment: reference },
      PaymentResource: {
        __resolveReference: ({ id }: { id: string }) => ({ id }),
        order: ({ id }: { id: string }) => data.orders.find(({ paymentId }) => paymentId === id),
      },
    },
  });
  const server = new ApolloServer({ schema, plugins: [ApolloServerPluginInlineTraceDisabled()] });
  const { url } = await startStandaloneServer(server, { listen: { host: '127.0.0.1', port: 0 } });
  return closeAfterTests(Object.assign(data, { url, close: () => server.stop() }));
}
