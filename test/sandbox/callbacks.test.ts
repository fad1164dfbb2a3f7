import type { ServerResponse } from 'node:http';
import { serverOf } from '../support/http-server';
import { CHANNEL } from '../support/caller';
import { until } from '../support/latch';
import { eachTest, parsed, type Wire } from './fixtures/running';
import { direct, payoutTo } from './fixtures/requests';

describe('The callback sender of the sandbox', () => {
  let failures = 0;
  let arrived: { body: Wire; path: string }[];
  let callback_url: string;
  let respond: (response: ServerResponse) => void;

  const ignore = () => undefined;
  const running = eachTest({ logger: { info: ignore, error: ignore, warn: () => void (failures += 1) } });

  beforeEach(async () => {
    failures = 0;
    arrived = [];
    respond = (response) => response.end();
    const origin = await serverOf(async (request, response) => {
      const body = parsed(Buffer.concat(await request.toArray()).toString());
      arrived.push({ body, path: request.url ?? '' });
      respond(response);
    });
    callback_url = `${origin}/hook`;
  });

  async function next() {
    await until(() => arrived.length > 0);
    return arrived.shift()!;
  }

  test('reports every change of status or state', async () => {
    const id = await running.created(direct('upi', { external_id: 'o-1', callback_url }));
    await running.confirm({ id, utr: '111111' });
    const first = await next();
    expect(first.path).toBe('/hook');
    expect(first.body).toEqual({
      type: 'payment',
      transaction_id: id,
      external_id: 'o-1',
      channel: CHANNEL,
      status: 'processing',
      state: 'waiting_for_provider',
      amount: { currency: 'INR', value: '25.00' },
      error: null,
      date: '2024-05-31T09:12:45.123000+00:00',
    });
    running.clock.advance(3000);
    expect((await next()).body).toMatchObject({ status: 'completed', state: null });
  });

  test('repeats a callback after 1 s and 5 s when the receiver does not respond within 5 s, or responds with an error', async () => {
    respond = ignore;
    await running.createPayout(payoutTo({ value: '1.54', callback_url }));
    running.clock.advance(1500);
    const error = { code: 'PROVIDER_PROCESSING_FAILED', message: 'Card expired' };
    const failed = { type: 'payout', external_id: 'payout-1', status: 'failed', error };
    expect((await next()).body).toMatchObject(failed);
    running.clock.advance(5000);
    await until(() => failures === 1);
    respond = (response) => response.writeHead(503).end('a body nobody reads');
    running.clock.advance(999);
    expect(arrived).toEqual([]);
    running.clock.advance(1);
    await next();
    await until(() => failures === 2);
    running.clock.advance(5000);
    await next();
    await until(() => failures === 3);
    expect(running.clock.advance(3_600_000)).toBe(0);
    expect(arrived).toEqual([]);
  });
});
