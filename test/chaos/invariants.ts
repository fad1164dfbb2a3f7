import type { Entry } from '../exactly-once/service/ledger';
import type { Row } from '../exactly-once/support/stores';
import type { Told } from './traffic';

/** What is compared when everything has come to rest. */
export interface Remains {
  /** What the service made. */
  entries: readonly Entry[];
  /** What the journal says. */
  attempts: readonly Row[];
  /** What callers were told. */
  told: readonly Told[];
}

type Check = (remains: Remains) => string[];

const groupedBy = <T>(items: readonly T[], name: (item: T) => string): Map<string, T[]> => {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(name(item), [...(groups.get(name(item)) ?? []), item]);
  return groups;
};

const attemptsByKey = ({ attempts }: Remains): Map<string, Row> =>
  new Map(attempts.map((row) => [String(row['key']), row]));

const createsPerKey: Check = ({ entries }) =>
  [...groupedBy(entries, ({ description }) => description)]
    .filter(([, created]) => created.length > 1)
    .map(([key, created]) => `${key} was created ${created.length} times`);

const succeededIsThere: Check = ({ entries, attempts }) => {
  const byId = new Map(entries.map((entry) => [entry.transactionId, entry]));
  return attempts
    .filter(({ outcome }) => outcome === 'succeeded')
    .flatMap(({ key, kind, transaction_id: id, external_id: externalId, value }) => {
      const entry = byId.get(String(id));
      if (!entry) return [`${key} is SUCCEEDED, but the service has no ${id}`];
      const agrees =
        entry.description === key &&
        entry.kind === kind &&
        entry.externalId === externalId &&
        entry.amount.value === value;
      return agrees ? [] : [`${key} is SUCCEEDED with ${id}, which was created for ${entry.description}`];
    });
};

const whatIsThereIsKnown: Check = (remains) => {
  const byKey = attemptsByKey(remains);
  return remains.entries.flatMap(({ description, transactionId }) => {
    const row = byKey.get(description);
    const isKnown = row?.['outcome'] === 'succeeded' && row['transaction_id'] === transactionId;
    if (isKnown || row?.['outcome'] === 'unknown') return [];
    return [
      `${description} was created as ${transactionId}, but the journal says ${row?.['outcome'] ?? 'nothing'}`,
    ];
  });
};

/** Not of safety but of progress: what can be found has been found. */
const whatIsThereIsFound: Check = (remains) => {
  const created = new Set(remains.entries.map(({ description }) => description));
  return remains.attempts
    .filter(
      ({ outcome, key }) => outcome === 'in_progress' || (outcome === 'unknown' && created.has(String(key))),
    )
    .map(({ key, outcome }) => `${key} is still ${outcome}, although it can be found`);
};

const callersHeardTheTruth: Check = ({ entries, told }) => {
  const byKey = groupedBy(entries, ({ description }) => description);
  return told.flatMap(({ key, ends }) => {
    const successes = ends.filter(({ result }) => result?.endsWith('Success'));
    const wrong = successes.filter(({ transactionId }) =>
      (byKey.get(key) ?? []).every((entry) => entry.transactionId !== transactionId),
    );
    const first = successes.filter(({ replayed }) => replayed === false);
    return [
      ...wrong.map(
        ({ transactionId }) => `a caller of ${key} heard of ${transactionId}, which is not its own`,
      ),
      ...(first.length > 1 ? [`${first.length} callers of ${key} heard that theirs was the create`] : []),
    ];
  });
};

/** No call here breaks a rule, and no two keys share an external id. */
const nobodyIsRefused: Check = ({ told }) =>
  told.flatMap(({ key, ends }) =>
    ends
      .filter(({ result, error }) => result === 'InvalidInputError' || error === 'INTERNAL_SERVER_ERROR')
      .map(({ result, error, message }) => `a caller of ${key} heard ${result ?? error}: ${message}`),
  );

/** What must hold whatever failed, and how it is said. */
export const INVARIANTS: Record<string, Check> = {
  'creates at the service per key: at most one': createsPerKey,
  'what is SUCCEEDED in the journal exists at the service': succeededIsThere,
  'what exists at the service is SUCCEEDED or UNKNOWN in the journal': whatIsThereIsKnown,
  'what can be found is found': whatIsThereIsFound,
  'callers hear of their own transaction only': callersHeardTheTruth,
  'nobody hears of a mistake that is none': nobodyIsRefused,
};
