import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { serverOf } from '../support/http-server';
import { CHANNEL } from '../support/caller';
import { eachTest, parsed, type Wire } from './fixtures/running';
import { direct, payoutTo } from './fixtures/requests';

describe('The callback sender of the sandbox', () => {
  /** A merchant's server that responds when the test has read the request. */
  class Receiver {
    private readonly arrived: { body: Wire; path: string; response: ServerResponse }[] = [];
    private wake: () => void = () => undefined;
    answer: (response: ServerResponse) => void = (response) => response.end();
    url = '';

    async open(): Promise<void> {
      const origin = await serverOf(async (request, response) => {
        const body = parsed(Buffer.concat(await request.toArray()).toString());
        this.arrived.push({ body, path: request.url ?? '', response });
        this.answer(response);
        this.wake();
      });
      this.url = `${origin}/hook`;
    }

    get waiting(): number {
      return this.arrived.length;
    }

    async next(): Promise<{ body: Wire; path: string; response: ServerResponse }> {
      for (;;) {
        const first = this.arrived.shift();
        if (first) return first;
        await new Promise<void>((resolve) => (this.wake = resolve));
      }
    }
  }

  const warnings: string[] = [];
  let warned: () => void = () => undefined;
  const logger = {
    info: () => undefined,
    error: () => undefined,
    warn: (_facts: object, message: string) => {
      warnings.push(message);
      warned();
    },
  };
  const running = eachTest({ logger });
  let receiver: Receiver;

  beforeEach(async () => {
    warnings.length = 0;
    receiver = new Receiver();
    await receiver.open();
  });

  /** Waits until the sandbox has logged that many failed attempts. */
  async function failures(count: number): Promise<void> {
    while (warnings.length < count) await new Promise<void>((resolve) => (warned = resolve));
  }

  test('reports every change of status or state', async () => {
    const id = await running.created(direct('upi', { external_id: 'o-1', callback_url: receiver.url }));
    await running.confirm({ id, utr: '111111' });
    const first = await receiver.next();
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
    expect((await receiver.next()).body).toMatchObject({ status: 'completed', state: null });
  });

  test('reports a failed payout with its error', async () => {
    await running.createPayout(payoutTo({ value: '1.54', callback_url: receiver.url }));
    running.clock.advance(1500);
    expect((await receiver.next()).body).toMatchObject({
      type: 'payout',
      external_id: 'payout-1',
      status: 'failed',
      error: { code: 'PROVIDER_PROCESSING_FAILED', message: 'Card expired' },
    });
  });

  test('retries twice with growing delays when the receiver refuses', async () => {
    receiver.answer = (response) => response.writeHead(503).end('a body nobody reads');
    await running.createPayout(payoutTo({ callback_url: receiver.url }));
    running.clock.advance(1500);
    await receiver.next();
    await failures(1);
    running.clock.advance(999);
    expect(receiver.waiting).toBe(0);
    running.clock.advance(1);
    await receiver.next();
    await failures(2);
    running.clock.advance(5000);
    await receiver.next();
    await failures(3);
    expect(running.clock.advance(3_600_000)).toBe(0);
    expect(receiver.waiting).toBe(0);
  });

  test('times out after 5 s', async () => {
    receiver.answer = () => undefined;
    await running.createPayout(payoutTo({ callback_url: receiver.url }));
    running.clock.advance(1500);
    const { response } = await receiver.next();
    const closed = once(response, 'close');
    running.clock.advance(5000);
    await closed;
    await failures(1);
  });

  test('sends at most eight callbacks at once', async () => {
    const held: ServerResponse[] = [];
    receiver.answer = (response) => held.push(response);
    for (let count = 0; count < 12; count += 1) {
      await running.createPayout(payoutTo({ callback_url: receiver.url }));
    }
    running.clock.advance(1500);
    for (let count = 0; count < 8; count += 1) await receiver.next();
    // A ninth callback would arrive before these round trips end.
    for (let trip = 0; trip < 20; trip += 1) await running.fetch('healthz');
    expect(receiver.waiting).toBe(0);
    for (let count = 0; count < 4; count += 1) {
      held.shift()?.end();
      await receiver.next();
    }
    for (const response of held) response.end();
  });

  test('queues at most a thousand callbacks', async () => {
    receiver.answer = () => undefined;
    const body = payoutTo({ callback_url: receiver.url });
    for (let round = 0; round < 11; round += 1) {
      await Promise.all(Array.from({ length: 100 }, () => running.createPayout(body)));
    }
    running.clock.advance(1500);
    expect(warnings.filter((text) => text.includes('dropped'))).toHaveLength(1100 - 1008);
  });
});
