// Journals for measuring only: one that keeps nothing, and one that counts what is asked of a real one.

const nothing = async () => {};
const none = async () => null;
const empty = async () => [];

/** Says yes to everything at once. A gateway with it would create twice; no setting leads to it. */
export const noJournal = () => ({
  deadlineMs: 400,
  begin: async () => ({ kind: 'started' }),
  settle: async () => true,
  find: none,
  findByTransaction: none,
  list: empty,
  renew: nothing,
  claim: none,
  claimDue: empty,
  beginConfirm: async () => ({ suspect: false, suspectHashes: [] }),
  endConfirm: nothing,
  confirmedInputs: empty,
  findAny: none,
  unknown: empty,
  purgeStep: async () => ({ deleted: 0, after: null }),
  ping: nothing,
  close: nothing,
});

/** A real journal, with a count of the calls of each of its methods: no statement is made without one. */
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
