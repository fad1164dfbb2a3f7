/*
 * The life of a payment's create: two instances, two callers of one idempotency key, one payment service without
 * idempotency. README.md in this folder says what each process stands for and what is left out. run.mjs checks it.
 *
 * Switches (cpp -D): CALLS_0, CALLS_1, CRASHES, STALLS, OUTAGES, LOOKUP_ERRORS, DATABASE, the mutations MUT_*, and LIVE.
 */

#ifndef CALLS_0
#define CALLS_0 2 /* calls of the first caller, with the same key, each to either instance */
#endif
#ifndef CALLS_1
#define CALLS_1 1
#endif
#ifndef CRASHES
#define CRASHES 1 /* kills of an instance, at any step */
#endif
#ifndef STALLS
#define STALLS 0 /* leases of living instances that end, for example because the instance is paused */
#endif
#ifndef OUTAGES
#define OUTAGES 0 /* outcomes that are not recorded at once because the journal does not respond */
#endif
#ifndef LOOKUP_ERRORS
#define LOOKUP_ERRORS 0 /* lookups without a result that counts: no response, or a 404 that proves nothing */
#endif
#ifndef RESENDS
#define RESENDS 0 /* whether the service rejects signatures, so that a create may be sent once more */
#endif
#ifndef PURGES
#define PURGES 0 /* whether rows of released keys are deleted */
#endif
#define RESTARTS 1 /* DATABASE: the server restarts and may lose what was not synced */
#define FAILS_OVER 2 /* a synchronous standby is promoted: it may lack what was not synced */
#define LOSES_SYNCED 3 /* an asynchronous standby is promoted: it may also lack attempts that were synced */
#ifndef DATABASE
#define DATABASE 0
#endif

/*
 * Time: a tick is the share of the settling time for which one lookup counts at most. A duration of n ticks ends with the
 * nth tick. Unless PROMPT, processes may be paused for any time, and the service rejects old signatures.
 */
#define SEND_UNTIL 1 /* age of an attempt from which lookups count */
#ifdef PROMPT
#define SIGNATURE 1 /* no process sends after SEND_UNTIL */
#define LAG 3 /* the service shows a transaction at the end of the settling time */
#else
#define SIGNATURE 2 /* time for which the service accepts a signature */
#define LAG 1 /* time after which a lookup certainly finds a transaction */
#endif
#ifdef MUT_SHORT_SETTLE
#define SETTLE 1
#else
#define SETTLE 2
#endif
#define MIN_LOOKUPS (SETTLE + 1)
#ifdef LATE_RESEND
#define MAX_AGE 5
#else
#define MAX_AGE SIGNATURE
#endif

#ifndef ATTEMPTS
#define ATTEMPTS 2 /* maximum number of attempts in a run: 2 or 3; a call that needs another one is rejected */
#endif

/* States of the journal's row for the key. NONE: no row. */
#define NONE 0
#define IN_PROGRESS 1
#define UNKNOWN 2
#define SUCCEEDED 3
#define NOT_SENT 4

/* Instances are 0 and 1. An owner or observer that died has another id after its restart. */
#define NOBODY 2

/* Results of a lookup; smaller values are the attempt whose transaction was found. */
#define NOTHING 8
#define MISMATCH 9
#define NO_ANSWER 10

/* Responses to a create. */
#define ACCEPTED 1
#define REFUSED 2
#define UNAUTHORIZED 3

/* The journal: the row of the key. */
byte state = NONE;
byte holder; /* its attempt */
byte transaction; /* attempt that the transaction of a succeeded row comes from */
bit leased;
byte owner = NOBODY;
bit due; /* whether the next lookup is due */
byte lookups, span; /* evidence of absence */
byte observer = NOBODY;
bit fence;
/* The attempts that survive a failure of the database: the last one that was synced, and the one before it (+ 1; 0: none). */
byte synced, before;

/* The attempts, in the order in which they were written. */
byte count;
byte age[ATTEMPTS];
byte flight[ATTEMPTS]; /* requests on their way to the service */
byte valid[ATTEMPTS]; /* ticks in which the service still accepts their signature */
byte created[ATTEMPTS]; /* transactions in the service's ledger */
byte lag[ATTEMPTS]; /* ticks until every lookup finds the transaction */
bit late[ATTEMPTS]; /* a transaction of the key existed when the attempt was written, and is too old for it */
byte response[ATTEMPTS];
byte begun[ATTEMPTS]; /* instance + 1 that has the attempt in flight (JournalSession.#attemptsInFlightById) */
byte queued[ATTEMPTS]; /* outcome that the instance could not record yet (JournalSession.#unrecordedOutcomes) */
byte queuedBy[ATTEMPTS];
bit released[ATTEMPTS];

/* The instances. */
bit down[2];
bit knows[2]; /* knows that the fence is up */
bit settled[2]; /* has known it for two seconds */
bit ticked; /* a tick has passed since the observer's last counted lookup */
bit recovering[2];
byte on[2]; /* by caller: instance + 1 that handles its call */
bit killed[2]; /* by caller: the instance died during the call */

byte crashes = CRASHES, stalls = STALLS, outages = OUTAGES, lookupErrors = LOOKUP_ERRORS;
bit databaseFailed;

/* printf: a step of a trail, which test/model/replay.ts repeats in the simulation. */

/* The false claims: "this is never reached". With -DNEVER_x=1 Spin has to find a run that reaches x. */
#define SEEN(what) assert(!NEVER_##what)

#ifndef NEVER_recovered_by_lookup
#define NEVER_recovered_by_lookup 0
#endif
#ifndef NEVER_replayed
#define NEVER_replayed 0
#endif
#ifndef NEVER_released_by_lookups
#define NEVER_released_by_lookups 0
#endif
#ifndef NEVER_fence_while_in_flight
#define NEVER_fence_while_in_flight 0
#endif
#ifndef NEVER_lost_replayed
#define NEVER_lost_replayed 0
#endif
#ifndef NEVER_superseded
#define NEVER_superseded 0
#endif
#ifndef NEVER_inserted_again
#define NEVER_inserted_again 0
#endif
#ifndef NEVER_resent
#define NEVER_resent 0
#endif
#ifndef NEVER_retried_after_release
#define NEVER_retried_after_release 0
#endif
#ifndef NEVER_taken_over
#define NEVER_taken_over 0
#endif

#define IS_OPEN (state == IN_PROGRESS || state == UNKNOWN)
/* Whether the lease has ended, or may have: its owner has died or no longer renews it. */
#ifdef MUT_LEASE_NEVER_ENDS
#define MAY_CLAIM (!leased)
#else
#define MAY_CLAIM (!leased || owner == NOBODY || (state == IN_PROGRESS && begun[holder] != owner + 1))
#endif
#define IS_FREE (state == NONE || state == NOT_SENT)
#define EXISTS(x) (created[x] > 0)
#if ATTEMPTS == 3
#define LEDGER (created[0] + created[1] + created[2])
#define AND_3RD(condition) && (condition)
#define OR_3RD(condition) || (condition)
#define DO_3RD(action) action
#else
#define LEDGER (created[0] + created[1])
#define AND_3RD(condition)
#define OR_3RD(condition)
#define DO_3RD(action) skip
#endif

#define RELEASE(a) released[a] = 1; assert(!EXISTS(a) && flight[a] == 0)

#ifdef MUT_COUNT_EARLY
#define MAY_COUNT(a) (1)
#else
#define MAY_COUNT(a) (age[a] >= SEND_UNTIL)
#endif
#ifdef MUT_ONE_ABSENCE
#define PROVEN(l, s) (l >= 1)
#else
#define PROVEN(l, s) (l >= MIN_LOOKUPS && s >= SETTLE)
#endif

#ifdef MUT_FENCE_NOT_COMPARED
#define SAME_FENCE(known) (1)
#else
#define SAME_FENCE(known) (known == fence)
#endif

#ifdef MUT_RESEND_UNCHECKED
#define MAY_REPEAT (1)
#else
#ifdef PROMPT
#define MAY_REPEAT (state == IN_PROGRESS && holder == a && owner == i && age[a] < SIGNATURE)
#else
#define MAY_REPEAT (state == IN_PROGRESS && holder == a && owner == i)
#endif
#endif
#ifdef SIGN_BEFORE_CHECK
#define RESEND if :: age[a] - checked < SIGNATURE -> send(a, SIGNATURE - (age[a] - checked)) :: else -> response[a] = UNAUTHORIZED fi
#else
#define RESEND send(a, SIGNATURE)
#endif
#ifdef FIX_LOST_AGE
#define LOST_IS_NOT_TOO_OLD(a) late[a] = 0
#else
#define LOST_IS_NOT_TOO_OLD(a) skip
#endif

#define FLUSH(q) r = queued[q]; queued[q] = 0; queuedBy[q] = 0; record(q, r, q, i); r = 0

inline forget() {
  leased = 0; owner = NOBODY; due = 0; lookups = 0; span = 0; observer = NOBODY; ticked = 0; transaction = 0
}

/* Writes attempt a as the row of the key, durably. */
inline write(attempt, self) {
  forget();
  state = IN_PROGRESS; holder = attempt; leased = 1; owner = self; due = 1;
#if DATABASE && !defined(MUT_UNSYNCED)
  if :: synced != attempt + 1 -> before = synced; synced = attempt + 1 :: else fi
#endif
}

inline newAttempt(attempt, self) {
  attempt = count;
  count++;
  begun[attempt] = self + 1;
  late[attempt] = (LEDGER > 0)
}

/* JournalSession.#reinsert */
inline insertAgain(attempt, self) {
  if
  :: IS_FREE -> write(attempt, self); SEEN(inserted_again)
  :: !IS_FREE && holder != attempt -> SEEN(superseded)
  :: else
  fi
}

/* The instance reads the fence, and when it is new writes its creates in flight again (JournalFence.onRaised). */
#ifdef MUT_NOT_INSERTED_AGAIN
#define INSERT_AGAIN(x, who) skip
#else
#define INSERT_AGAIN(x, who) if \
  :: begun[x] == who + 1 || (queuedBy[x] == who && (queued[x] == SUCCEEDED || queued[x] == UNKNOWN)) -> insertAgain(x, who) \
  :: else fi
#endif

inline raiseFence(self) {
  fence = 1;
  if
  :: !knows[self] ->
    knows[self] = 1; settled[self] = 0;
    INSERT_AGAIN(0, self); INSERT_AGAIN(1, self); DO_3RD(INSERT_AGAIN(2, self))
  :: else
  fi
}

/* The row leaves the open states, or is due again. Records nothing in a row that is settled. */
inline setOutcome(attempt, outcome, shown) {
  if
  :: IS_OPEN ->
    state = outcome;
    leased = 0;
    if
    :: outcome == SUCCEEDED -> forget(); transaction = shown; age[attempt] = MAX_AGE
    :: outcome == NOT_SENT -> forget(); age[attempt] = MAX_AGE; RELEASE(attempt)
    :: else -> owner = NOBODY
    fi
  :: else
  fi
}

/* JournalSession.#recordOrReinsert */
inline record(attempt, outcome, shown, self) {
  if
  :: state != NONE && holder == attempt -> setOutcome(attempt, outcome, shown)
  :: else ->
    if
    :: outcome == NOT_SENT -> RELEASE(attempt)
    :: else ->
      raiseFence(self);
      insertAgain(attempt, self);
      if :: state != NONE && holder == attempt -> setOutcome(attempt, outcome, shown) :: else fi
    fi
  fi
}

/* JournalSession.recordOutcome, by a call. */
inline recordOrQueue(attempt, outcome, shown, self) {
  begun[attempt] = 0; response[attempt] = 0;
  if
  :: record(attempt, outcome, shown, self)
  :: outages > 0 -> outages--; queued[attempt] = outcome; queuedBy[attempt] = self
  fi
}

#define HIDDEN(x) (!EXISTS(x) || lag[x] > 0)

/* A lookup by external id. It may miss a transaction as long as it lags. */
inline lookUp(result) {
  if
  :: EXISTS(0) -> result = 0
  :: EXISTS(1) -> result = 1
#if ATTEMPTS == 3
  :: EXISTS(2) -> result = 2
#endif
  :: HIDDEN(0) && HIDDEN(1) AND_3RD(HIDDEN(2)) -> result = NOTHING
  :: lookupErrors > 0 -> lookupErrors--; result = NO_ANSWER
  fi
}

/* TransactionMatcher.find: a transaction that is older than the attempt is not believed. */
inline find(attempt, result) {
  lookUp(result);
  if :: result < NOTHING && result != attempt && late[attempt] -> result = MISMATCH :: else fi
}

/* OutcomeRecovery: the claim, the lookup, and its evidence. Nothing happens in between that is worse than afterwards. */
inline claimAndFind(self, attempt, result, nextLookups, nextSpan, nextObserver) {
  state = UNKNOWN; leased = 1; owner = self; due = 0;
  attempt = holder;
  nextLookups = lookups; nextSpan = span; nextObserver = observer;
  find(attempt, result);
  if
  :: result == NOTHING && MAY_COUNT(attempt) && (observer == NOBODY || observer == self) ->
    if :: nextLookups < MIN_LOOKUPS -> nextLookups++ :: else fi;
    if :: observer == self && ticked && nextSpan < SETTLE -> nextSpan++ :: else fi;
    nextObserver = self;
    ticked = 0
  :: result == NOTHING && !(MAY_COUNT(attempt) && (observer == NOBODY || observer == self)) -> result = NO_ANSWER
  :: result == MISMATCH -> nextLookups = 0; nextSpan = 0; nextObserver = NOBODY
  :: else
  fi
}

/* The end of a recovery. r: the attempt whose transaction was found, or NOTHING once absence is proven, else NO_ANSWER. */
inline conclude(self, attempt, result, nextLookups, nextSpan, nextObserver) {
  if
  :: result < NOTHING -> record(attempt, SUCCEEDED, result, self); SEEN(recovered_by_lookup)
  :: result == NOTHING && PROVEN(nextLookups, nextSpan) -> record(attempt, NOT_SENT, 0, self); result = NOTHING; SEEN(released_by_lookups)
  :: else ->
    result = NO_ANSWER;
    record(attempt, UNKNOWN, 0, self);
    if
    :: IS_OPEN && holder == attempt -> lookups = nextLookups; span = nextSpan; observer = nextObserver
    :: else
    fi
  fi
}

inline send(attempt, ticks) {
  printf("EVENT send %d %d\n", attempt, 0);
  flight[attempt]++;
  valid[attempt] = ticks
}

/* A caller, and the call that an instance handles for it (createOnce). */
proctype Caller(byte c; byte calls) {
  byte i, a, r, l, s, o;
  bit knew, last, resentOnce;
  byte checked;
again:
  {
    atomic {
      if
      :: calls == 0 -> goto done
      :: calls > 0 && !down[0] -> i = 0
      :: calls > 0 && !down[1] -> i = 1
      fi;
      calls--;
      on[c] = i + 1;
      printf("EVENT call %d %d\n", c, i)
    }
try:
    atomic {
      knew = knows[i];
#ifndef MUT_FENCE_OFF
      if
      :: knew && IS_FREE && !settled[i] -> goto answered
      :: knew && IS_FREE && settled[i] ->
        lookUp(r);
        if
        :: r == NO_ANSWER -> goto answered
        :: r < NOTHING -> goto lost
        :: else
        fi
      :: else
      fi
#endif
    }
#ifdef MUT_SEND_FIRST
    atomic {
      if
      :: IS_FREE && SAME_FENCE(knew) && count < ATTEMPTS -> newAttempt(a, i); send(a, SIGNATURE)
      :: else -> goto insert
      fi
    }
    atomic {
      if
      :: IS_FREE -> write(a, i); goto wait
      :: else -> goto replay
      fi
    }
#endif
insert:
    atomic {
      if
      :: !SAME_FENCE(knew) ->
        raiseFence(i);
        if :: last -> goto answered :: !last -> last = 1; goto try fi
      :: SAME_FENCE(knew) && IS_FREE && count == ATTEMPTS -> goto answered
      :: SAME_FENCE(knew) && IS_FREE && count < ATTEMPTS -> newAttempt(a, i); write(a, i); printf("EVENT begin %d %d\n", a, c)
      :: SAME_FENCE(knew) && !IS_FREE -> goto replay
      fi
    }
    atomic {
      if
      :: age[a] < SIGNATURE -> send(a, SIGNATURE - age[a])
      :: true -> printf("EVENT refuse %d %d\n", a, 0); recordOrQueue(a, NOT_SENT, 0, i); goto answered /* refused connection, or the journal was too slow */
      fi;
      knew = 0
    }
wait:
    atomic {
      if
      :: response[a] == ACCEPTED ->
        response[a] = 0;
        r = a;
        recordOrQueue(a, SUCCEEDED, a, i);
        goto success
      :: response[a] == REFUSED -> response[a] = 0; recordOrQueue(a, NOT_SENT, 0, i); goto answered
      :: response[a] == UNAUTHORIZED ->
        response[a] = 0;
        checked = age[a];
        if
        :: MAY_REPEAT && !resentOnce -> resentOnce = 1; SEEN(resent);
        :: else -> recordOrQueue(a, NOT_SENT, 0, i); goto answered
        fi
#ifndef MUT_NO_TIMEOUT
      :: response[a] == 0 -> goto timeout_ /* the response is lost or late */
#endif
      fi;
#ifndef LATE_RESEND
      send(a, SIGNATURE);
      goto wait
#endif
    }
#ifdef LATE_RESEND
    atomic { RESEND; goto wait }
#endif
timeout_:
    atomic {
#ifdef MUT_RETRY_POST
      if :: !resentOnce && age[a] < SIGNATURE -> resentOnce = 1; send(a, SIGNATURE - age[a]); goto wait :: else fi;
#endif
#ifdef MUT_TIMEOUT_IS_NOT_SENT
      recordOrQueue(a, NOT_SENT, 0, i); goto answered;
#endif
      find(a, r);
      printf("EVENT give_up %d %d\n", a, r);
      if
      :: r < NOTHING -> recordOrQueue(a, SUCCEEDED, r, i); SEEN(recovered_by_lookup); goto success
      :: else -> recordOrQueue(a, UNKNOWN, 0, i); goto answered
      fi
    }
lost: /* CreateCall.#replayEarlierCreate: records what an attempt created that the journal has lost */
    atomic {
      if
      :: !SAME_FENCE(knew) -> raiseFence(i); goto answered
      :: SAME_FENCE(knew) && IS_FREE && count == ATTEMPTS -> goto answered
      :: SAME_FENCE(knew) && IS_FREE && count < ATTEMPTS -> newAttempt(a, i); LOST_IS_NOT_TOO_OLD(a); write(a, i)
      :: SAME_FENCE(knew) && !IS_FREE -> goto replay
      fi
    }
    atomic { recordOrQueue(a, SUCCEEDED, r, i); printf("EVENT join %d %d\n", c, i); SEEN(lost_replayed); goto success }
replay:
    atomic {
      printf("EVENT join %d %d\n", c, i);
      if
      :: IS_FREE -> goto released_
      :: state == SUCCEEDED -> r = transaction; SEEN(replayed); goto success
#ifdef MUT_NO_LEASE
      :: state == IN_PROGRESS -> a = holder; owner = i; begun[a] = i + 1; send(a, SIGNATURE); goto wait
      :: state == UNKNOWN && leased -> goto answered
#else
      :: IS_OPEN && leased -> goto answered
#endif
      :: IS_OPEN && MAY_CLAIM -> claimAndFind(i, a, r, l, s, o); printf("EVENT take_over %d %d\n", c, r); SEEN(taken_over)
      :: IS_OPEN && !MAY_CLAIM && stalls > 0 -> stalls--; claimAndFind(i, a, r, l, s, o); printf("EVENT take_over %d %d\n", c, r)
      fi;
#if STALLS
    }
    atomic {
#endif
      conclude(i, a, r, l, s, o);
      if
      :: r < NOTHING -> goto success
      :: r == NOTHING -> goto released_
      :: else -> goto answered
      fi
    }
released_:
    atomic { if :: last -> goto answered :: !last -> last = 1; SEEN(retried_after_release); goto try fi }
success:
    atomic { assert(EXISTS(r)); printf("EVENT succeed %d %d\n", c, r) }
answered:
    printf("EVENT answer %d %d\n", c, 0)
  } unless { killed[c] }
  atomic {
    on[c] = 0; killed[c] = 0; i = 0; a = 0; r = 0; l = 0; s = 0; o = 0; knew = 0; last = 0; resentOnce = 0; checked = 0;
    goto again
  }
done:
  skip
}

/* The reconciler of an instance. */
proctype Reconciler(byte i) {
  byte a, r, l, s, o;
end:
  do
  :: atomic {
      if
      :: !down[i] && IS_OPEN && MAY_CLAIM && due && (observer == NOBODY || observer == i) -> skip
      :: !down[i] && IS_OPEN && !MAY_CLAIM && due && (observer == NOBODY || observer == i) && stalls > 0 -> stalls--
      fi;
      claimAndFind(i, a, r, l, s, o);
      printf("EVENT recover %d %d\n", i, r);
#if STALLS
      recovering[i] = 1
    }
    atomic {
      if
      :: !recovering[i] -> skip
      :: recovering[i] -> conclude(i, a, r, l, s, o); recovering[i] = 0
      fi;
#else
      conclude(i, a, r, l, s, o);
#endif
      a = 0; r = 0; l = 0; s = 0; o = 0
    }
  :: atomic { !down[i] && queued[0] && queuedBy[0] == i -> FLUSH(0) }
  :: atomic { !down[i] && queued[1] && queuedBy[1] == i -> FLUSH(1) }
  od
}

/* The payment service: takes requests in any order. It does not compare them with what it has. */
proctype Service() {
  byte k;
end:
  do
  :: atomic {
      if
      :: flight[0] > 0 -> k = 0
      :: flight[1] > 0 -> k = 1
#if ATTEMPTS == 3
      :: flight[2] > 0 -> k = 2
#endif
      fi;
      flight[k]--;
      if :: flight[k] == 0 -> valid[k] = 0 :: else fi;
      if
      :: created[k]++;
        lag[k] = LAG;
        printf("EVENT create %d %d\n", k, 0);
        assert(LEDGER <= 1);
        assert(!released[k]);
        if :: begun[k] -> response[k] = ACCEPTED; printf("EVENT respond %d %d\n", k, 201) :: true fi
      :: begun[k] -> response[k] = REFUSED; printf("EVENT respond %d %d\n", k, 400)
      :: RESENDS && begun[k] -> response[k] = UNAUTHORIZED; printf("EVENT respond %d %d\n", k, 401)
      fi;
      k = 0
    }
  od
}

#define AGES(x) (x < count && age[x] < MAX_AGE && (begun[x] || (IS_OPEN && holder == x)))
#define AGE(x) if :: AGES(x) -> age[x]++ :: else fi; \
  if :: valid[x] > 0 -> valid[x]--; if :: valid[x] == 0 -> flight[x] = 0 :: else fi :: else fi; \
  if :: lag[x] > 0 -> lag[x]-- :: else fi
#define CHANGES(x) (AGES(x) || valid[x] > 0 || lag[x] > 0)

/* Time. */
proctype Clock() {
end:
  do
  :: d_step {
      CHANGES(0) || CHANGES(1) OR_3RD(CHANGES(2)) || (IS_OPEN && (!due || (observer != NOBODY && !ticked))) ->
      AGE(0); AGE(1); DO_3RD(AGE(2));
      if :: IS_OPEN -> due = 1 :: else fi;
      ticked = (observer != NOBODY);
      printf("EVENT tick %d %d\n", 0, 0)
    }
  od
}

/* Assumptions about the time from the failover to the end of the settling of the fence. */
#ifdef UNNOTICED
#define NOTICED (1)
#else
#define NOTICED ((down[0] || knows[0]) && (down[1] || knows[1]))
#endif
#define SHOWN(x) (x >= count || (holder == x && state != NONE) || (flight[x] == 0 && lag[x] == 0))
#ifdef SHOWN_LATE
#define ALL_SHOWN (1)
#else
#define ALL_SHOWN (SHOWN(0) && SHOWN(1) AND_3RD(SHOWN(2)))
#endif

proctype Instance(byte i) {
end:
  do
  :: atomic { !down[i] && fence && !knows[i] -> raiseFence(i) }
  :: atomic { !down[i] && knows[i] && !settled[i] && NOTICED && ALL_SHOWN -> settled[i] = 1; printf("EVENT settle %d %d\n", i, 0) }
  :: atomic { down[i] -> down[i] = 0; knows[i] = fence; printf("EVENT start %d %d\n", i, 0) }
  od
}

#define LOSE(x) if :: begun[x] == i + 1 -> begun[x] = 0; response[x] = 0 :: else fi; \
  if :: queued[x] && queuedBy[x] == i -> queued[x] = 0; queuedBy[x] = 0 :: else fi

inline crash(self) {
  printf("EVENT kill %d %d\n", self, 0);
  down[self] = 1;
  knows[self] = 0; settled[self] = 0; recovering[self] = 0;
  if :: owner == self -> owner = NOBODY :: else fi;
  if :: observer == self -> observer = NOBODY; ticked = 0 :: else fi;
  if :: on[0] == self + 1 -> killed[0] = 1 :: else fi;
  if :: on[1] == self + 1 -> killed[1] = 1 :: else fi;
  LOSE(0); LOSE(1); DO_3RD(LOSE(2))
}

/* The row of an attempt as it was written (x: attempt + 1; 0: no row). */
inline restore(shown) {
  forget();
  state = NONE; holder = 0;
  if
  :: shown > 0 ->
    state = IN_PROGRESS; holder = shown - 1; leased = 1; due = 1;
    if :: begun[holder] -> owner = begun[holder] - 1 :: else fi
  :: else
  fi;
  synced = shown; before = 0
}

proctype Faults() {
  byte i;
end:
  do
  :: atomic { crashes > 0 && !down[0] -> crashes--; i = 0; crash(i); i = 0 }
  :: atomic { crashes > 0 && !down[1] -> crashes--; i = 1; crash(i); i = 0 }
#if DATABASE
  :: atomic {
      !databaseFailed ->
      databaseFailed = 1;
      if
      :: printf("EVENT fail_over %d %d\n", 0, DATABASE); restore(synced)
#if DATABASE >= FAILS_OVER
      :: printf("EVENT fail_over %d %d\n", 3, DATABASE) /* nothing is lost */
#endif
#if DATABASE == LOSES_SYNCED
      :: synced > 0 -> printf("EVENT fail_over %d %d\n", 1, DATABASE); restore(before)
      :: before > 0 -> printf("EVENT fail_over %d %d\n", 2, DATABASE); restore(0)
#endif
      fi;
#if DATABASE >= FAILS_OVER && !defined(MUT_FENCE_OFF)
      fence = 1;
      if :: flight[0] > 0 || flight[1] > 0 -> SEEN(fence_while_in_flight) :: else fi
#endif
    }
#endif
#ifdef LIVE
  :: break
#endif
  od
}

/* Deletes rows of released keys. Succeeded rows are kept for longer than any caller repeats its call. */
proctype Purge() {
end:
  do
  :: atomic { PURGES && state == NOT_SENT -> printf("EVENT purge %d %d\n", holder, 0); forget(); state = NONE; holder = 0 }
#ifdef MUT_PURGE_UNKNOWN
  :: atomic { state == UNKNOWN -> printf("EVENT purge %d %d\n", holder, 0); forget(); state = NONE; holder = 0 }
#endif
#ifdef EARLY_PURGE
  :: atomic { state == SUCCEEDED -> printf("EVENT purge %d %d\n", holder, 0); forget(); state = NONE; holder = 0 }
#endif
  od
}

init {
  atomic {
    run Caller(0, CALLS_0);
    run Caller(1, CALLS_1);
    run Reconciler(0);
    run Reconciler(1);
    run Service();
    run Clock();
    run Instance(0);
    run Instance(1);
    run Purge();
    run Faults()
  }
}

/*
 * With weak fairness, Spin looks for cycles only, and so misses a run that ends in a state without a next step. This
 * process makes such a state a cycle.
 */
#ifdef LIVE
active proctype Idle() {
  do
  :: printf("")
  od
}
#endif

/* Once no faults are left: every attempt is settled, and every call ends. Checked with weak fairness. */
#ifdef LIVE
ltl unknown_is_settled { <> [] (!IS_OPEN && !queued[0] && !queued[1]) }
ltl calls_end { [] (on[0] -> <> !on[0]) && [] (on[1] -> <> !on[1]) }
#endif
