// The payments that are watched: their ids, and where each stands at the beginning.

export { CHANNEL } from '../journal/caller.mjs';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** The id of the payment with a number, and the ids of so many. */
export const idOf = (number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
export const idsOf = (count) => Array.from({ length: count }, (_, number) => idOf(number));

/** New payments that wait for their payers: looked at as often as payments ever are for minutes. */
export const NEW = [{ status: 'pending', ageMs: 0 }];

/** Payments as they are found at any moment: of ten, so many of each age and state. */
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

/** Payments for the service to know. */
export const payments = (count, mix) =>
  idsOf(count).map((id, number) => ({ id, ...mix[number % mix.length] }));
