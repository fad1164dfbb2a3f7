import type { Entry } from '../support/payment-service/ledger';
import type { Row } from '../support/stores';
import type { KeyHistory } from './traffic';

/** The final state that the invariants compare. */
export interface FinalState {
  entries: readonly Entry[];
  attempts: readonly Row[];
  histories: readonly KeyHistory[];
  failedShutdowns: string[];
}

type Check = (remains: FinalState) => string[];

const createsPerKey: Check = ({ entries }) =>
  [...Map.groupBy(entries, ({ description }) => description)]
    .filter(([, created]) => created.length > 1)
    .map(([key, created]) => `${key} was created ${created.length} times`);

const successesExist: Check = ({ entries, attempts }) => {
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

const existingTransactionsAreRecorded: Check = ({ entries, attempts }) => {
  const byKey = new Map(attempts.map((row) => [row['key'], row]));
  return entries.flatMap(({ description, transactionId }) => {
    const { outcome = 'nothing', transaction_id: known } = byKey.get(description) ?? {};
    const isKnown = outcome === 'unknown' || (outcome === 'succeeded' && known === transactionId);
    return isKnown ? [] : [`${description} was created as ${transactionId}, but the journal has ${outcome}`];
  });
};

/** Checks progress, not safety: every transaction that lookups can find has been found. */
const existingTransactionsAreFound: Check = (remains) => {
  const created = new Set(remains.entries.map(({ description }) => description));
  return remains.attempts
    .filter(
      ({ outcome, key }) => outcome === 'in_progress' || (outcome === 'unknown' && created.has(String(key))),
    )
    .map(({ key, outcome }) => `${key} is still ${outcome}, although it can be found`);
};

const resultsMatchTheLedger: Check = ({ entries, histories: history }) => {
  const own = new Set(entries.map(({ description, transactionId }) => `${description} ${transactionId}`));
  return history.flatMap(({ key, ends }) => {
    const successes = ends.filter(({ result }) => result?.endsWith('Success'));
    const ids = successes.map(({ transactionId }) => transactionId);
    const wrong = ids.filter((id) => !own.has(`${key} ${id}`));
    const first = successes.filter(({ replayed }) => replayed === false);
    return [
      ...wrong.map((id) => `a caller of ${key} got ${id}, which is not its own`),
      ...(first.length > 1 ? [`${first.length} callers of ${key} got a result that is not replayed`] : []),
    ];
  });
};

/** Expects no refusal, because no call breaks a rule, and no two keys share an external id. */
const noCallIsRefused: Check = ({ histories: history }) =>
  history.flatMap(({ key, ends }) =>
    ends
      .filter(({ result, error }) => result === 'InvalidInputError' || error === 'INTERNAL_SERVER_ERROR')
      .map(({ result, error, message }) => `a caller of ${key} got ${result ?? error}: ${message}`),
  );

/** Invariants by description. */
export const INVARIANTS: Record<string, Check> = {
  'creates at the service per key: at most one': createsPerKey,
  'each SUCCEEDED attempt in the journal exists at the service': successesExist,
  'each transaction at the service is SUCCEEDED or UNKNOWN in the journal': existingTransactionsAreRecorded,
  'each transaction that lookups can find is found': existingTransactionsAreFound,
  'callers get only their own transaction': resultsMatchTheLedger,
  'no valid call is rejected': noCallIsRefused,
  'gateways stop gracefully': ({ failedShutdowns }) => failedShutdowns,
};
