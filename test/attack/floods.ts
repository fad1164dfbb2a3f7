import { CLIENT_KEY } from '../support/credentials';
import type { Outcome } from './attack';
import { OURS, READER, type Target } from './target';
import { flood, type FloodFigures } from './threads';
import { postText } from './wire';

/** The least that is left of the useful throughput, as the issue asks. */
const LEAST_SHARE = 0.8;
const OVERLOAD = 10;
/** So many callers keep one gateway busy without a queue that matters. */
const CALLERS = 64;
const PATIENCE_MS = 10_000;
const QUICK_MS = 100;

/** A lookup that is another one each time: the thread writes a number in the place of the signs. */
const lookup = ({ host }: Target, key: string): string =>
  postText(
    JSON.stringify({ query: `{ payment(channel: "${OURS}", externalId: "flood-########") { __typename } }` }),
    [`Host: ${host}`, `Authorization: Bearer ${key}`],
  );

const perSecond = ({ useful, seconds }: FloodFigures): number => useful / seconds;
const whole = (number: number): string => String(Math.round(number));

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/** What callers of a flood have left behind is still worked on when they are gone. Resolves when answers are quick again. */
async function recovered(target: Target): Promise<void> {
  for (let quick = 0; quick < 5;) {
    const startedAt = performance.now();
    await target
      .ask(`{ payment(channel: "${OURS}", externalId: "calm-${startedAt}") { __typename } }`)
      .catch(() => undefined);
    quick = performance.now() - startedAt < QUICK_MS ? quick + 1 : 0;
  }
}

/**
 * Ten times as many questions a second as the gateway can answer: what is still of use to somebody? Calm and flood take
 * turns, so that whatever else the machine does meanwhile falls on both.
 */
export async function overload(target: Target, ms: number): Promise<Outcome> {
  const request = lookup(target, CLIENT_KEY);
  const shared = { request, patienceMs: PATIENCE_MS };
  const calm = async (share: number): Promise<number> => {
    await recovered(target);
    const options = { ...shared, ms: ms * share, warmUpMs: ms * share * 0.4, callers: CALLERS };
    return perSecond(await flood(target.url, options));
  };
  // A new process is slow at first: what is called often has not been compiled yet.
  await calm(0.2);
  const peaks = [await calm(0.12)];
  const floods: FloodFigures[] = [];
  for (let round = 0; round < 2; round += 1) {
    const rate = mean(peaks) * OVERLOAD;
    floods.push(await flood(target.url, { ...shared, ms: ms * 0.22, warmUpMs: ms * 0.07, rate }));
    peaks.push(await calm(0.12));
  }
  const sum = (name: keyof FloodFigures): number => floods.reduce((all, figures) => all + figures[name], 0);
  const useful = mean(floods.map(perSecond));
  const share = useful / mean(peaks);
  const tried = sum('sent') + sum('notSent');
  return {
    tried,
    through: share < LEAST_SHARE ? [`useful throughput fell to ${whole(share * 100)} %`] : [],
    note:
      `peak ${peaks.map(whole).join(', ')}/s; offered ${whole(tried / sum('seconds'))}/s: useful ${whole(useful)}/s = ${whole(share * 100)} % of it; ` +
      `${sum('refused')} refused with 503, ${sum('gaveUp')} gave up, ${sum('failed')} failed, ${sum('notSent')} found no connection; ` +
      `slowest useful answer ${whole(Math.max(...floods.map(({ slowestMs }) => slowestMs)))} ms`,
  };
}

/** One client asks for far more than its share; another one asks as it always does. */
export async function greed(target: Target, ms: number): Promise<Outcome> {
  const greedy = flood(target.url, {
    request: lookup(target, READER.key),
    ms,
    warmUpMs: 0,
    patienceMs: PATIENCE_MS,
    callers: CALLERS,
  });
  const through: string[] = [];
  let served = 0;
  for (const until = performance.now() + ms; performance.now() < until; served += 1) {
    const { status } = await target.ask('{ __typename }');
    if (status !== 200) through.push(`another client was refused with ${status}`);
  }
  const { useful, refused, failed } = await greedy;
  if (refused === 0) through.push('the greedy client was never refused');
  return {
    tried: useful + refused + failed,
    through,
    note: `served ${useful}, refused ${refused} with 429; another client was served ${served} times beside it`,
  };
}
