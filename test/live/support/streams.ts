import { until } from '../../exactly-once/support/gate';
import { EventStream } from './event-stream';
import { subscriptionLines, watching, type LiveRig } from './live-rig';

/** Asks for the events of a payment. */
export const open = (rig: LiveRig, asked: object = watching(), headers?: Record<string, string>) =>
  EventStream.open(`${rig.client.url}/stream`, asked, { headers });

/** Opens one, and waits for the state. */
export async function opened(rig: LiveRig, asked: object = watching(), headers?: Record<string, string>) {
  const stream = await open(rig, asked, headers);
  expect(await stream.nextData()).toMatchObject({ status: 'PENDING' });
  return stream;
}

/** Waits until so many subscriptions have ended. */
export const ended = (rig: LiveRig, count: number): Promise<unknown> =>
  until(
    () => subscriptionLines(rig).length,
    (lines) => lines === count,
  );

/** Nobody looks at that payment any more, however much time passes. */
export async function expectNobodyLooks({ service, clock, client }: LiveRig, id: string): Promise<void> {
  // A look that was under way has arrived, and whatever the clock sets off has been sent, before these are answered.
  const settle = async (): Promise<void> => {
    for (let count = 0; count < 3; count += 1) await client.ask(LOOK_UP, watching().variables);
  };
  await settle();
  const before = service.lookups(id);
  for (let count = 0; count < 20; count += 1) clock.advance(5000);
  await settle();
  expect(service.lookups(id)).toBe(before);
}

/** Somebody looks a payment up, with the variables of who watches it. */
export const LOOK_UP =
  'query ($c: UUID!, $t: UUID!) { payment(channel: $c, transactionId: $t) { __typename } }';

/** The events of a stream that an error ends. */
export const refusedWith = (code: string) => [
  { event: 'next', data: { errors: [{ extensions: { code } }] } },
  { event: 'complete' },
];
