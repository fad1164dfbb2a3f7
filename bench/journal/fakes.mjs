// Journals for measuring only: one that stores nothing, and a wrapper that counts calls.

const nothing = async () => {};
const none = async () => null;
const empty = async () => [];

/** A journal that accepts every write and stores nothing. With it a key would be sent twice; no setting leads to it. */
export const noJournal = () => ({
  deadlineMs: 400,
  time: async () => Date.now(),
  insertAttempt: async () => ({ kind: 'started' }),
  recordOutcome: async () => true,
  find: none,
  findByTransaction: none,
  hasRival: async () => false,
  createdBeside: none,
  findCreated: async (_creator, refs) => refs.map(() => null),
  list: empty,
  renew: nothing,
  claim: none,
  claimDue: empty,
  beginConfirm: async () => ({ previousOutcomeUnknown: false, unresolvedHashes: [] }),
  endConfirm: nothing,
  confirmedInputs: empty,
  findById: none,
  findAny: none,
  unknown: empty,
  countUnknown: empty,
  purgeStep: none,
  checkWrite: nothing,
  ping: nothing,
  close: nothing,
});

/** Wraps a real journal and counts the calls of each method; every statement is made by one of them. */
export function counting(journal) {
  const counts = {};
  const counted = new Proxy(journal, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args) => {
        counts[name] = (counts[name] ?? 0) + 1;
        return value.apply(target, args);
      };
    },
  });
  return { counted, counts };
}
