// The payments of the benchmark: ids and initial states.

export { CHANNEL } from '../journal/caller.mjs';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Id of payment number n, and the first n ids. */
export const idOf = (number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
export const idsOf = (count) => Array.from({ length: count }, (_, number) => idOf(number));

/** New payments that wait for their payers; they are polled at the shortest interval. */
export const NEW = [{ status: 'pending', ageMs: 0 }];

/** A realistic mix: of ten payments, how many have which age and state. */
export const MIXED = [
  { status: 'pending', ageMs: 0 },
  { status: 'pending', ageMs: 0 },
  { status: 'pending', ageMs: 4 * MINUTE },
  { status: 'pending', ageMs: 4 * MINUTE },
  { status: 'pending', ageMs: 30 * MINUTE },
  { status: 'pending', ageMs: 30 * MINUTE },
  { status: 'pending', ageMs: 300 * MINUTE },
  { status: 'processing', ageMs: 0 },
  { status: 'processing', ageMs: 20 * MINUTE },
  { status: 'mispaid', ageMs: 30 * MINUTE },
];

/** Payments as the service stores them. */
export const payments = (count, mix) =>
  idsOf(count).map((id, number) => ({ id, ...mix[number % mix.length] }));
