import { EventStream, type StreamEvent } from '../../subscriptions/support/event-stream';
import { Watching, eventStreamClient, webSocketClient } from '../../subscriptions/support/subscriptions';
import { CHANNEL, type Json } from '../../support/caller';
import { AUTHORIZED } from '../../support/credentials';
import { until } from '../../support/latch';

/** A change as the tests select it. */
export interface SeenChange extends Json {
  cursor: string;
  transactionId: string;
  status: string;
}

const COMMON = 'cursor recordedAt channel transactionId externalId amount { currency value received }';

export const CHANGE = `__typename
  ... on PaymentChange { ${COMMON} method previousStatus status state }
  ... on PayoutChange { ${COMMON} payoutMethod: method previousPayoutStatus: previousStatus payoutStatus: status }`;

export const pageQuery = (selection = CHANGE): string =>
  `query ($channel: UUID!, $after: String, $first: Int) {
    changes(channel: $channel, after: $after, first: $first) { changes { ${selection} } endCursor hasMore } }`;

export const subscriptionQuery = (selection = CHANGE): string =>
  `subscription ($channel: UUID!, $after: String) { changes(channel: $channel, after: $after) { ${selection} } }`;

/** Returns the change of a result without the aliases of payouts. */
export function unaliased({ payoutMethod, previousPayoutStatus, payoutStatus, ...change }: Json): SeenChange {
  const payout = payoutStatus !== undefined && {
    method: payoutMethod,
    previousStatus: previousPayoutStatus,
    status: payoutStatus,
  };
  return { ...change, ...payout } as SeenChange;
}

/** The gateway that a reader connects to, and its credentials. */
export interface ReaderOptions {
  /** URL of the gateway's GraphQL endpoint. */
  url: string;
  after?: string | undefined;
  credentials?: { authorization: string };
  channel?: string;
}

/** Reads changes and follows new ones, over one of the transports. */
export interface Reader {
  /** Resolves to all changes that were received, when there are at least `count`. */
  received(count: number): Promise<SeenChange[]>;
  stop(): void;
}

export type OpenReader = (options: ReaderOptions) => Reader;

export interface Page {
  changes: Json[];
  endCursor: string;
  hasMore: boolean;
}

export async function readPage(
  { url, after, credentials = AUTHORIZED, channel = CHANNEL }: ReaderOptions,
  first?: number,
  query = pageQuery(),
) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...credentials },
    body: JSON.stringify({ query, variables: { channel, after, first } }),
  });
  const { data, errors } = (await response.json()) as {
    data?: { changes: Page } | null;
    errors?: { message: string; extensions: Json }[];
  };
  const page = data?.changes;
  return { page: page && { ...page, changes: page.changes.map(unaliased) }, errors };
}

/** Reads pages of three changes. */
const pages: OpenReader = (options) => {
  const seen: SeenChange[] = [];
  let { after } = options;
  const readOn = async (): Promise<number> => {
    const { page, errors } = await readPage({ ...options, after }, 3);
    if (!page) throw new Error(JSON.stringify(errors));
    seen.push(...page.changes);
    after = page.endCursor;
    return seen.length;
  };
  return {
    received: async (count) => {
      await until(readOn, (length) => length >= count);
      return [...seen];
    },
    stop: () => undefined,
  };
};

const subscribed =
  (connect: typeof webSocketClient | typeof eventStreamClient): OpenReader =>
  ({ url, after, credentials, channel = CHANNEL }) => {
    const payload = { query: subscriptionQuery(), variables: { channel, after } };
    const watching = new Watching(connect({ url }, credentials), payload, 'changes');
    return {
      received: async (count) => {
        await until(() => watching.errors !== undefined || watching.values.length >= count);
        if (watching.errors) throw new Error(JSON.stringify(watching.errors));
        return watching.values.map(unaliased);
      },
      stop: () => watching.leave(),
    };
  };

/** Opens a stream of server-sent events, whose header Last-Event-ID is sent if it is given. */
export const openStream = (
  { url, after, credentials = AUTHORIZED, channel = CHANNEL }: ReaderOptions,
  { method = 'GET', lastEventId, query = subscriptionQuery() }: StreamOptions = {},
): Promise<EventStream> =>
  EventStream.open(
    `${url}/stream`,
    { query, variables: { channel, after } },
    {
      method,
      headers: { ...credentials, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
    },
  );

interface StreamOptions {
  method?: 'GET' | 'POST';
  lastEventId?: string;
  query?: string;
}

/** Returns the change of an event whose id is its cursor. */
export function changeOf(event: StreamEvent): SeenChange {
  if (event.event !== 'next' || !event.data.data) throw new Error(`No data: ${JSON.stringify(event)}`);
  const change = unaliased(event.data.data['changes'] ?? {});
  expect(event.id).toBe(change.cursor);
  return change;
}

/** Resumes with the header Last-Event-ID instead of `after`. */
const resumed =
  (method: 'GET' | 'POST'): OpenReader =>
  ({ after: lastEventId, ...options }) => {
    const seen: SeenChange[] = [];
    const opened = openStream(options, { method, ...(lastEventId !== undefined && { lastEventId }) });
    return {
      received: async (count) => {
        const stream = await opened;
        while (seen.length < count) seen.push(changeOf(await stream.next()));
        return [...seen];
      },
      stop: () => void opened.then((stream) => stream.disconnect()),
    };
  };

/** Readers that follow new changes by polling or by a subscription, and how they resume. */
export const READERS: readonly (readonly [string, OpenReader])[] = [
  ['pages of the query', pages],
  ['a WebSocket', subscribed(webSocketClient)],
  ['server-sent events', subscribed(eventStreamClient)],
  ['server-sent events by GET with Last-Event-ID', resumed('GET')],
  ['server-sent events by POST with Last-Event-ID', resumed('POST')],
];
