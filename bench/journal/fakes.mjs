// Journals for measuring only: one that stores nothing, and a wrapper that counts calls.

const nothing = async () => {};
const none = async () => null;
const empty = async () => [];

/** Returns a journal that stores nothing. With it a repeated key would be sent again; no setting leads to it. */
export const noJournal = () => ({
  timeLimitMs: 400,
  time: async () => Date.now(),
  insertAttempt: async () => ({ kind: 'started' }),
  recordOutcome: async () => true,
  find: none,
  findByTransaction: none,
  hasRival: async () => false,
  findSucceededOnChannel: none,
  findCreated: async (_creator, refs) => refs.map(() => null),
  list: empty,
  renew: nothing,
  claim: none,
  claimDue: empty,
  beginConfirm: async () => ({ isEarlierOutcomeUnknown: false, unresolvedInputHashes: [] }),
  endConfirm: nothing,
  confirmedInputs: empty,
  findById: none,
  findAny: none,
  unknown: empty,
  countUnknown: empty,
  mayBeFollowed: async (ids) => ids.map(() => false),
  recordObservation: async () => 'not_followed',
  claimFollowed: empty,
  scheduleFollowed: nothing,
  countFollowed: async () => ({ followed: 0, due: 0, oldestDueAt: null }),
  readChanges: async ({ after }) => ({
    changes: [],
    hasMore: false,
    endPosition: after ?? { epoch: 0, xid: 0, seq: 0 },
    hasUnreadableChanges: false,
  }),
  newestChange: async () => ({ epoch: 0, xid: 0, seq: 0 }),
  purgeStep: none,
  checkWrite: nothing,
  readFenceState: async () => ({ fence: null, lastAttemptSeq: 0 }),
  setFence: nothing,
  ping: nothing,
  close: nothing,
});

/** Wraps a journal. Counts the calls of each method, among which are all that execute statements. */
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
