import { createHash } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { AdvancingClock } from '../../src/sandbox/clock';
import { frozenClock } from '../support/fake-clock';
import { LiveEvents } from '../../src/sandbox/live-events';
import { eachTest } from './fixtures/running';
import { redirect } from './fixtures/requests';

describe('The event stream of the console', () => {
  const running = eachTest({ control: true });

  /** Changes within this time, in ms, are one event. */
  const TOGETHER_MS = 100;
  const HEARTBEAT_MS = 15_000;

  /** A client that listens to the event stream and collects the events. */
  class Listener {
    text = '';

    private constructor(readonly response: IncomingMessage) {
      response.setEncoding('utf8').on('data', (part: string) => (this.text += part));
      // An interrupted stream is no error here, because the tests check its events.
      response.on('error', () => undefined);
    }

    static open(): Promise<Listener> {
      return new Promise((resolve, reject) => {
        const url = new URL('_sandbox/events', running.url);
        get(url, { agent: false }, (response) => resolve(new Listener(response))).on('error', reject);
      });
    }

    get events(): number {
      return this.text.split('data: changed\n\n').length - 1;
    }

    async until(condition: () => boolean): Promise<void> {
      while (!condition()) await running.fetch('healthz');
    }

    /** Waits for a heartbeat, before which all due events arrive. Returns the number of events. */
    async allEvents(): Promise<number> {
      const heartbeats = () => this.text.split(': heartbeat\n\n').length - 1;
      const before = heartbeats();
      running.clock.advance(HEARTBEAT_MS);
      await this.until(() => heartbeats() > before);
      return this.events;
    }
  }

  const pay = () => running.created(redirect());

  test.each<[string, (id: string) => unknown]>([
    ['a new payment', () => pay()],
    ['a lookup', (id) => running.payment(id)],
    ['a payer who opens the hosted page', (id) => running.fetch(`pay/${id}`)],
    ['a payment that is settled by hand', (id) => running.control(`transactions/${id}/settle`)],
    ['an advance of the clock by the control plane', () => running.control('clock/advance', { ms: 1 })],
    ['an advance of the clock by a test', () => running.sandbox.control.advance(1)],
    ['a fault', () => running.control('faults', { operation: 'create', fault: 'cut_after' })],
    ['a reset', () => running.control('reset')],
  ])('sends an event for %s', async (_name, change) => {
    const id = await pay();
    const listener = await Listener.open();
    await change(id);
    running.clock.advance(TOGETHER_MS);
    await listener.until(() => listener.events >= 1);
    expect(await listener.allEvents()).toBe(1);
  });

  test('combines simultaneous changes into one event for every listener', async () => {
    const listeners = [await Listener.open(), await Listener.open()];
    const ids = await Promise.all(Array.from({ length: 20 }, () => pay()));
    for (const id of ids) running.sandbox.control.settle(id);
    running.sandbox.control.advance(60_000);
    running.clock.advance(TOGETHER_MS - 1);
    expect(listeners.map(({ events }) => events)).toEqual([0, 0]);
    running.clock.advance(1);
    for (const listener of listeners) await listener.until(() => listener.events >= 1);
    await pay();
    running.clock.advance(HEARTBEAT_MS);
    for (const listener of listeners) expect(await listener.allEvents()).toBe(2);
  });

  test('serves at most 32 listeners', async () => {
    const listeners = await Promise.all(Array.from({ length: 32 }, () => Listener.open()));
    expect(listeners.map(({ response }) => response.statusCode)).toEqual(Array(32).fill(200));
    const refused = await running.fetch('_sandbox/events');
    expect(refused.status).toBe(503);
    listeners[7]?.response.destroy();
    let next = await Listener.open();
    while (next.response.statusCode === 503) next = await Listener.open();
    await pay();
    running.clock.advance(TOGETHER_MS);
    await next.until(() => next.events >= 1);
    expect((await Listener.open()).response.statusCode).toBe(503);
  });

  test('ends properly and leaves no timers when the sandbox closes', async () => {
    const listener = await Listener.open();
    await pay();
    const ended = new Promise((resolve) => listener.response.once('close', resolve));
    await running.sandbox.close();
    await ended;
    expect(listener.response.complete).toBe(true);
    expect(running.clock.advance(HEARTBEAT_MS)).toBe(0);
    await expect(Listener.open()).rejects.toThrow('ECONNREFUSED');
  });

  test('drops a listener that reads nothing, and keeps the others', async () => {
    const clock = new AdvancingClock(frozenClock(0));
    const live = new LiveEvents(clock);
    const [idle, reader] = [new PassThrough(), new PassThrough().resume()];
    live.addListener(idle);
    live.addListener(reader);
    for (let count = 0; count < 20_000 && !idle.destroyed; count += 1) {
      live.notifyChange();
      clock.advance(TOGETHER_MS);
      await setImmediate();
    }
    expect([idle.destroyed, reader.destroyed]).toEqual([true, false]);
  });
});

describe('The hosted page', () => {
  const running = eachTest();

  const open = (id: string) => running.fetch(`pay/${id}`);
  const choose = (id: string, choice: string) => running.fetch(`pay/${id}/${choice}`, { method: 'POST' });

  test('refuses to pay or decline a settled payment', async () => {
    const id = await running.created(redirect({ return_url: 'https://shop.example/' }));
    await choose(id, 'pay');
    const again = await choose(id, 'decline');
    expect(again.status).toBe(303);
    expect(again.headers.get('location')).toBe(`../${id}`);
    expect((await running.payment(id)).body['status']).toBe('completed');
  });

  test('settles the payment with the outcome that its amount selects when the payer chooses Pay', async () => {
    const id = await running.created(redirect({ value: '9.60' }));
    await choose(id, 'pay');
    expect((await running.payment(id)).body['error']).toMatchObject({ message: 'Do not honor' });
    const stuck = await running.created(redirect({ value: '9.75' }));
    await choose(stuck, 'pay');
    expect((await running.payment(stuck)).body['status']).toBe('processing');
  });

  test('makes later lookups show the card that paid', async () => {
    const id = await running.created(redirect());
    expect((await running.payment(id)).body['payment_method']).not.toHaveProperty('card_mask');
    await choose(id, 'pay');
    expect((await running.payment(id)).body['payment_method']).toMatchObject({
      card_mask: '4111********1111',
    });
  });

  test('escapes all texts that come from the client', async () => {
    const hostile = `"><script>alert(1)</script>'&`;
    const return_url = `https://shop.example/?a="><script>alert(2)</script>`;
    const id = await running.created(redirect({ external_id: hostile, return_url }));
    const before = (await open(id)).text;
    await choose(id, 'pay');
    const after = (await open(id)).text;
    expect(before).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;');
    for (const text of [before, after]) expect(text).not.toContain('<script');
  });

  test('has a content security policy that allows only its own style and the way back', async () => {
    const page = await open(await running.created(redirect({ return_url: 'http://shop.example:8080/back' })));
    const style = /<style>([^]*)<\/style>/.exec(page.text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(page.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self' http://shop.example:8080; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(page.headers.get('cache-control')).toBe('no-store');
    const hostile = await open(
      await running.created(redirect({ return_url: 'http://shop;script-src.example/' })),
    );
    expect(hostile.headers.get('content-security-policy')).toContain("form-action 'self' http:; base-uri");
  });

  test('responds to unknown payments and choices with an error page', async () => {
    const id = await running.created(redirect());
    for (const response of [
      await open('nothing'),
      await choose('nothing', 'pay'),
      await choose(id, 'steal'),
    ]) {
      expect(response.status).toBe(404);
      expect(response.text).toContain('There is no payment at this address');
    }
  });
});
