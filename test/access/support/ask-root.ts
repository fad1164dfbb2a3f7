import { WireClient } from '../../live/support/wire-client';
import type { GraphqlAnswer, TestClient } from '../../support/gateway';
import { expectForbidden } from './answers';
import type { RootCall } from './root-calls';

type Data = Record<string, unknown> | null;
type Told = NonNullable<GraphqlAnswer<Data>['errors']>;

/** What came back for a call: over HTTP, or the first that was heard of a subscription. */
export interface RootAnswer {
  data: Data | undefined;
  errors: Told | undefined;
  /** Fails unless it was refused for want of a right. */
  expectForbidden(): void;
}

const isLive = ({ document }: RootCall): boolean => document.startsWith('subscription');

/** Makes a call of the table on a channel. */
export async function askRoot(
  client: TestClient,
  call: RootCall,
  channel: string,
  headers: { authorization: string },
): Promise<RootAnswer> {
  const variables = call.variables(channel);
  if (isLive(call)) return watchOnce(client.url, { query: call.document, variables }, headers);
  const answer = await client.ask<Data>(call.document, variables, headers);
  return {
    data: answer.data,
    errors: answer.errors,
    expectForbidden: () => expectForbidden(answer, call.field),
  };
}

async function watchOnce(url: string, asked: object, headers: object): Promise<RootAnswer> {
  const wire = await WireClient.ready(url, headers);
  wire.subscribe('a', asked);
  const { type, payload } = await wire.next();
  wire.socket.close();
  await wire.closed;
  const { data, errors } = (type === 'error' ? { errors: payload } : payload) as Partial<RootAnswer>;
  return {
    data,
    errors,
    expectForbidden: () => {
      expect(type).toBe('error');
      expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', retryable: false } }]);
    },
  };
}
