import { LOST_RESPONSES, html, reset, noResponse, status } from '../support/payment-service/faults';
import type { Fault, FakePaymentService, Endpoint } from '../support/payment-service/fake-payment-service';
import { pause, type Random, type Tally } from './random';

export const TIMEOUT_MS = 800;
/** UNKNOWN_SETTLE_SECONDS: longer than a create may be delayed and hidden from lookups. */
export const SETTLE_SECONDS = 6;
const MAX_DELAY_MS = 1500;
const MAX_LAG_MS = 1500;

const REPLIES = Object.entries(LOST_RESPONSES);
/** A confirm has no amount and no external id: the gateway cannot notice that these differ in its response. */
const CONFIRM_REPLIES = REPLIES.filter(([name]) => !name.startsWith('responds with another'));

const REFUSALS = [html(400), status(422), status(401), status(429, { 'retry-after': '0' })];

const LOOKUP_FAILURES = [status(503), status(503), status(401), reset, reset, noResponse];

type Named = [name: string, fault: Fault] | undefined;

function mutationFault(random: Random, endpoint: Endpoint): Named {
  const [, reply] = random.one(endpoint === 'confirm' ? CONFIRM_REPLIES : REPLIES);
  const refuse = random.one(REFUSALS);
  const late = random.between(0, MAX_DELAY_MS);
  const slow = pause(random.between(0, TIMEOUT_MS * 1.2));
  return random.weighted<Named>([
    [55, undefined],
    [13, ['carried out, response lost', { acts: true, reply }]],
    [10, ['not carried out, response lost', { acts: false, reply }]],
    [5, ['reset, carried out later', { acts: late, reply: reset }]],
    [3, ['no response, carried out later', { acts: late, reply: noResponse }]],
    [8, ['refused', { acts: false, reply: refuse }]],
    [6, ['slow', { acts: true, first: slow }]],
  ]);
}

function lookupFault(random: Random): Named {
  return random.weighted<Named>([
    [85, undefined],
    [13, ['lookup failed', { acts: false, reply: random.one(LOOKUP_FAILURES) }]],
    [2, ['lookup slow', { acts: true, first: pause(random.between(0, TIMEOUT_MS)) }]],
  ]);
}

export function injectFaults(service: FakePaymentService, random: Random, faults: Tally): void {
  service.plan((endpoint: Endpoint) => {
    const isLookup = endpoint.startsWith('look-up');
    if (!isLookup && random.chance(0.3)) {
      service.ledger.lag = { ms: random.between(0, MAX_LAG_MS), lookups: 0 };
    }
    const [name, fault] = (isLookup ? lookupFault(random) : mutationFault(random, endpoint)) ?? [];
    if (name !== undefined) faults.add(name);
    return fault;
  });
}

/** Also waits for creates that are carried out after their response was lost. */
export async function stopFaults(service: FakePaymentService): Promise<void> {
  service.plan(() => undefined);
  service.ledger.lag = { ms: 0, lookups: 0 };
  for (const entry of service.ledger.entries) entry.hiddenLookups = 0;
  await pause(MAX_DELAY_MS);
}
