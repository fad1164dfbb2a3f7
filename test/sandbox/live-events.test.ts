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

  const pay = async (value = '25.00') =>
    String((await running.createPayment(redirect({ value }))).body['transaction_id']);

  test.each<[string, (id: string) => unknown]>([
    ['a new payment', () => pay()],
    ['a lookup', (id) => running.payment(id)],
    ['a payer who opens the hosted page', (id) => running.fetch(`pay/${id}`)],
    ['a payment that is settled by hand', (id) => running.control(`transactions/${id}/settle`)],
    ['a clock that is moved', () => running.control('clock/advance', { ms: 1 })],
    ['a clock that a test moves', () => running.sandbox.control.advance(1)],
    ['a fault', () => running.control('faults', { operation: 'create', fault: 'cut_after' })],
    ['a start from the beginning', () => running.control('reset')],
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
