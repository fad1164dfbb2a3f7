import { AUTHORIZED } from '../support/credentials';
import { closeAfterTests } from '../support/gateway';
import { FaultyService } from '../exactly-once/service/faulty-service';
import { traced } from './support/traced';

/** By its id a trace is among the kept half, or it is not: the same everywhere. */
const KEPT_ID = `00000001${'0'.repeat(24)}`;
const DROPPED_ID = `ffffffff${'0'.repeat(24)}`;

const SAMPLED = '01';
const UNSAMPLED = '00';
const NO_PARENT = '';

let service: FaultyService;

beforeAll(async () => {
  service = closeAfterTests(await FaultyService.start());
});

/** The names of the spans that came of one query by a caller whose own trace that is. */
async function kept(env: Record<string, string>, flags: string, traceId = KEPT_ID): Promise<string[]> {
  const gateway = await traced(service.url, { env });
  const traceparent = `00-${traceId}-00f067aa0ba902b7-${flags}`;
  const headers = flags === NO_PARENT ? AUTHORIZED : { ...AUTHORIZED, traceparent };
  await gateway.client.ask('query Asked { __typename }', {}, headers);
  return (await gateway.spans()).map(({ name }) => name);
}

const ASKED = ['query Asked'];

test.each([
  ['always_on', undefined, UNSAMPLED, ASKED],
  ['always_off', undefined, SAMPLED, []],
  ['parentbased_always_on', undefined, NO_PARENT, ASKED],
  ['parentbased_always_on', undefined, UNSAMPLED, []],
  ['parentbased_always_off', undefined, NO_PARENT, []],
  ['parentbased_always_off', undefined, SAMPLED, ASKED],
  ['traceidratio', '0', SAMPLED, []],
  ['traceidratio', '1', UNSAMPLED, ASKED],
  ['parentbased_traceidratio', '0', NO_PARENT, []],
  ['parentbased_traceidratio', '0', SAMPLED, ASKED],
])(
  'With %s (%s) and a parent with the flags "%s" there are the spans %j',
  async (name, share, flags, spans) => {
    const env = { OTEL_TRACES_SAMPLER: name, ...(share && { OTEL_TRACES_SAMPLER_ARG: share }) };
    expect(await kept(env, flags)).toEqual(spans);
  },
);

test('A share of the traces is chosen by their ids', async () => {
  const env = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' };
  expect(await kept(env, SAMPLED, KEPT_ID)).toEqual(ASKED);
  expect(await kept(env, SAMPLED, DROPPED_ID)).toEqual([]);
});

test('By default what the caller says is done, and all is kept where it says nothing', async () => {
  expect(await kept({}, NO_PARENT)).toEqual(ASKED);
  expect(await kept({}, UNSAMPLED)).toEqual([]);
});

test('A trace that is not kept has its id in the log all the same', async () => {
  const gateway = await traced(service.url, { env: { OTEL_TRACES_SAMPLER: 'always_off' } });
  const headers = { ...AUTHORIZED, traceparent: `00-${KEPT_ID}-00f067aa0ba902b7-01` };
  await gateway.client.ask('query Asked { __typename }', {}, headers);
  expect(gateway.logLines.join('')).toContain(`"trace_id":"${KEPT_ID}"`);
  expect(await gateway.spans()).toEqual([]);
});
