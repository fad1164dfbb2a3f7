import { EventStream, type StreamEvent } from '../../subscriptions/support/event-stream';
import { CHANNEL, type Json } from '../../support/caller';
import { AUTHORIZED } from '../../support/credentials';
import { post } from '../../support/raw';

/** A change as the tests select it. */
export interface SeenChange extends Json {
  cursor: string;
  transactionId: string;
  status: string;
  previousStatus: string | null;
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
}

interface Page {
  changes: Json[];
  endCursor: string;
  hasMore: boolean;
}

export async function readPage(
  { url, after, credentials = AUTHORIZED }: ReaderOptions,
  first?: number,
  query = pageQuery(),
) {
  const variables = { channel: CHANNEL, after, first };
  const { data, errors } = await post(url, JSON.stringify({ query, variables }), credentials);
  const page = (data as { changes: Page } | null | undefined)?.changes;
  return { page: page && { ...page, changes: page.changes.map(unaliased) }, errors };
}

/** Returns all changes after a cursor, read in pages of `first`. */
export async function readAllPages(options: ReaderOptions, first = 500): Promise<SeenChange[]> {
  const all: SeenChange[] = [];
  for (let { after } = options; ;) {
    const { page, errors } = await readPage({ ...options, after }, first);
    if (!page) throw new Error(JSON.stringify(errors));
    all.push(...page.changes);
    if (!page.hasMore) return all;
    after = page.endCursor;
  }
}

/** Returns the cursor after which no change is stored. There may be one page of changes at most. */
export async function newestCursor(options: ReaderOptions): Promise<string> {
  const { page } = await readPage(options, 500);
  if (!page || page.hasMore) throw new Error('The newest change is not on the first page.');
  return page.endCursor;
}

/** Opens a stream of server-sent events. Sends the header Last-Event-ID if `lastEventId` is given. */
export const openStream = (
  { url, after, credentials = AUTHORIZED }: ReaderOptions,
  { method = 'GET', lastEventId, query = subscriptionQuery() }: StreamOptions = {},
): Promise<EventStream> =>
  EventStream.open(
    `${url}/stream`,
    { query, variables: { channel: CHANNEL, after } },
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
  if (event.id !== change.cursor)
    throw new Error(`The event id ${event.id} is not the cursor ${change.cursor}.`);
  return change;
}
