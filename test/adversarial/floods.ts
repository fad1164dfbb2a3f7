import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { Caller } from '../support/caller';
import { CLIENT_KEY } from '../support/credentials';
import { Wire, postText } from '../support/wire';
import { OURS, OWN_CHANNEL, READER, AttackLog, type Attack, type Target } from './target';
import { flood, type FloodFigures } from './threads';

/** Minimum useful throughput during a flood, as a fraction of the peak throughput. */
const MIN_SHARE = 0.8;
/** Requests offered during a flood, as a multiple of the peak throughput. */
const OVERLOAD_FACTOR = 10;
/** Number of concurrent callers that saturate one gateway without a queue. */
const CALLERS = 64;
const FAST_RESPONSE_MS = 100;

/** Returns a lookup request. The worker replaces `########` by a number, so that each request has another id. */
const lookup = ({ host }: Target, key: string): string =>
  postText(
    JSON.stringify({ query: `{ payment(channel: "${OURS}", externalId: "flood-########") { __typename } }` }),
    [`Host: ${host}`, `Authorization: Bearer ${key}`],
  );

const perSecond = ({ useful, seconds }: FloodFigures): number => useful / seconds;
const rounded = (number: number): string => String(Math.round(number));

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/** Waits until five responses in a row are fast, because work of an earlier flood may still be in progress. */
async function untilResponsive(target: Target): Promise<void> {
  for (let quick = 0; quick < 5;) {
    const startedAt = performance.now();
    const query = `{ payment(channel: "${OURS}", externalId: "calm-${startedAt}") { __typename } }`;
    await target.ask(query).catch(() => undefined);
    quick = performance.now() - startedAt < FAST_RESPONSE_MS ? quick + 1 : 0;
  }
}

/** Offers ten times the capacity. Baselines and floods alternate, so that other load on the machine affects both. */
export const overload: Attack = {
  name: 'a flood of 10 × the capacity',
  env: { RATE_LIMIT_PER_MINUTE: '0' },
  share: 0.5,
  run: async (target, ms) => {
    const request = lookup(target, CLIENT_KEY);
    const baseline = async (share: number): Promise<number> => {
      await untilResponsive(target);
      const options = { request, ms: ms * share, warmUpMs: ms * share * 0.4, callers: CALLERS };
      return perSecond(await flood(target.url, options));
    };
    // Warm-up: code of a new process is not compiled yet.
    await baseline(0.2);
    const peaks = [await baseline(0.12)];
    const floods: FloodFigures[] = [];
    for (let round = 0; round < 2; round += 1) {
      const rate = mean(peaks) * OVERLOAD_FACTOR;
      floods.push(await flood(target.url, { request, ms: ms * 0.22, warmUpMs: ms * 0.07, rate }));
      peaks.push(await baseline(0.12));
    }
    const sum = (name: keyof FloodFigures): number => floods.reduce((all, figures) => all + figures[name], 0);
    const useful = mean(floods.map(perSecond));
    const share = useful / mean(peaks);
    const tried = sum('sent') + sum('notSent');
    return {
      attempts: tried,
      breaches: share < MIN_SHARE ? [`useful throughput fell to ${rounded(share * 100)} % of the peak`] : [],
      note:
        `peak ${peaks.map(rounded).join(', ')}/s; offered ${rounded(tried / sum('seconds'))}/s: useful ${rounded(useful)}/s = ${rounded(share * 100)} % of it; ` +
        `${sum('refused')} refused with 503, ${sum('timedOut')} timed out, ${sum('failed')} failed, ${sum('notSent')} not sent for lack of connections; ` +
        `slowest useful response ${rounded(Math.max(...floods.map(({ slowestMs }) => slowestMs)))} ms`,
    };
  },
};

/** One client sends far more than its rate limit allows, while another client calls normally. */
export const unfairClient: Attack = {
  name: 'a flood from one client',
  env: { RATE_LIMIT_PER_MINUTE: '300' },
  share: 0.06,
  run: async (target, ms) => {
    const request = lookup(target, READER.key);
    const greedy = flood(target.url, { request, ms, warmUpMs: 0, callers: CALLERS });
    const attempts = new AttackLog();
    for (const until = performance.now() + ms; performance.now() < until;)
      attempts.add('another client', await target.problemOfOthers());
    const { useful, refused } = await greedy;
    attempts.add('the greedy client', refused === 0 && 'was never refused');
    return Object.assign(attempts, {
      note: `served ${useful} to the greedy client, refused ${refused} with 429`,
    });
  },
};

/** Memory limit of a pod in the manifests, in MB. */
const POD_LIMIT_MB = 1024;
const PIPELINED = 4;
const PAUSE_MS = 250;

/** Returns a query of 500 rate limit points with a response of about 10 MB: 90 aliases of a long field per lookup. */
function largeQuery(transactionId: string): string {
  const times = (count: number, write: (place: number) => string): string =>
    Array.from({ length: count }, (_, place) => write(place)).join(' ');
  const pages = times(5, (n) => `p${n}: payments(channel: "${OURS}", transactionIds: $ids) { ...F }`);
  const fragment = `fragment F on PaymentResource { ${times(90, (n) => `a${n}: redirectUrl`)} }`;
  return JSON.stringify({
    query: `query ($ids: [UUID!]!) { ${pages} } ${fragment}`,
    variables: { ids: Array<string>(100).fill(transactionId) },
  });
}

/** Two callers request the largest responses within their rate limits and never read them. */
export const unreadResponses: Attack = {
  name: 'unread responses',
  share: 0.3,
  run: async (target, ms) => {
    const attempts = new AttackLog();
    const redirect_url = `https://pay.example.com/${'x'.repeat(180)}`;
    target.service.plan(() => ({
      acts: true,
      reply: (connection, response) =>
        connection.send({ ...response, json: { ...Object(response.json), redirect_url } }),
    }));
    const { transactionId } = await new Caller(target.base).create('payment', randomUUID());
    if (!transactionId) throw new Error('The payment to look up could not be created.');
    const body = largeQuery(transactionId);
    const wires: Wire[] = [];
    let peak = 0;
    for (const end = performance.now() + ms; performance.now() < end;) {
      for (const key of [CLIENT_KEY, OWN_CHANNEL.key]) {
        const wire = await Wire.open(target.url);
        wire.socket.pause();
        const headers = [`Host: ${target.host}`, `Authorization: Bearer ${key}`];
        wires.push(wire.write(postText(body, headers).repeat(PIPELINED)));
      }
      const status = await target.ask('{ __typename }');
      attempts.add('another request', ![200, 429, 503].includes(status) && `status ${status}`);
      peak = Math.max(peak, target.memory() ?? 0);
      await setTimeout(PAUSE_MS);
    }
    const open = wires.filter((wire) => wire.isOpen).length;
    wires.forEach((wire) => wire.close());
    attempts.add('memory', peak >= POD_LIMIT_MB && `${peak} MB`);
    const note = `peak ${peak} MB; ${wires.length} connections, of which ${open} were open at the end`;
    return Object.assign(attempts, { note });
  },
};
