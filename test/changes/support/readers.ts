import { Watching, eventStreamClient, webSocketClient } from '../../subscriptions/support/subscriptions';
import { CHANNEL } from '../../support/caller';
import { until } from '../../support/latch';
import {
  changeOf,
  openStream,
  readPage,
  subscriptionQuery,
  unaliased,
  type ReaderOptions,
  type SeenChange,
} from './requests';

/** Reads changes and follows new ones, over one of the transports. */
export interface Reader {
  /** Resolves to all received changes, once there are at least `count`. */
  received(count: number): Promise<SeenChange[]>;
  stop(): void;
}

export type OpenReader = (options: ReaderOptions) => Reader;

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
