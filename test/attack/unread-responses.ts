import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { Caller } from '../exactly-once/support/caller';
import { CLIENT_KEY } from '../support/credentials';
import { Tries, type Outcome } from './attack';
import { OURS, OWN_CHANNEL, bearer, type Target } from './target';
import { Wire, postText } from './wire';

/** The shipped memory limit of a pod, in megabytes. */
const POD_LIMIT_MB = 1024;
const KEYS = [CLIENT_KEY, OWN_CHANNEL.key];
/** Requests that one connection sends without waiting for a response. */
const PIPELINED = 4;
const PAUSE_MS = 250;

/** 500 lookups of one payment with 90 aliases of its longest field: some 10 MB of response for 500 points. */
function largeQuery(transactionId: string): string {
  const aliases = Array.from({ length: 90 }, (_, place) => `a${place}: redirectUrl`).join(' ');
  const pages = Array.from(
    { length: 5 },
    (_, place) => `p${place}: payments(channel: "${OURS}", transactionIds: $ids) { ...F }`,
  );
  return JSON.stringify({
    query: `query ($ids: [UUID!]!) { ${pages.join(' ')} } fragment F on PaymentResource { ${aliases} }`,
    variables: { ids: Array<string>(100).fill(transactionId) },
  });
}

/**
 * Two callers ask, within their rate limits, for the largest responses that there are and never read them; another one asks
 * for a small one now and then. The memory of the process has to stay below that of a pod.
 */
export async function unreadResponses(target: Target, ms: number): Promise<Outcome> {
  const tries = new Tries();
  const url = `https://pay.example.com/${'x'.repeat(180)}`;
  target.service.plan(() => ({
    acts: true,
    reply: (connection, answer) =>
      connection.send({ ...answer, json: { ...Object(answer.json), redirect_url: url } }),
  }));
  const { transactionId } = await new Caller(target.base).create('payment', randomUUID());
  if (!transactionId) throw new Error('The payment to look up could not be created.');
  const body = largeQuery(transactionId);
  const wires: Wire[] = [];
  let peak = 0;
  for (const end = performance.now() + ms; performance.now() < end;) {
    for (const key of KEYS) {
      const wire = await Wire.open(target.url);
      wire.socket.pause();
      const headers = [`Host: ${target.host}`, `Authorization: Bearer ${key}`];
      wires.push(wire.write(postText(body, headers).repeat(PIPELINED)));
    }
    const { status } = await target.ask('{ __typename }', {}, bearer(CLIENT_KEY));
    tries.add('another request', [[200, 429, 503].includes(status) ? undefined : `status ${status}`]);
    peak = Math.max(peak, target.memory() ?? 0);
    await setTimeout(PAUSE_MS);
  }
  const open = wires.filter((wire) => wire.isOpen).length;
  wires.forEach((wire) => wire.close());
  tries.add('memory', [peak < POD_LIMIT_MB ? undefined : `${peak} MB`]);
  return {
    ...tries,
    note: `peak ${peak} MB; ${wires.length} connections, of which ${open} were open at the end`,
  };
}
