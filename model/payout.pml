/*
 * Payouts: two idempotency keys with one external id, one call each, to two instances. The service shows neither amount
 * nor time of a payout, so the external id is looked up before the first sending, and reserved in the journal. A payout of
 * unknown outcome is never released. Switches: MUT_NO_PREFLIGHT, MUT_NO_RESERVATION, MUT_RELEASED, ELSEWHERE, LAGGING_PREFLIGHT.
 */
#define NONE 0
#define IN_PROGRESS 1
#define UNKNOWN 2
#define SUCCEEDED 3
#define NOT_SENT 4

/* A transaction is named by the attempt that created it; 2: one that was created before, by other means. */
#define OTHER 2
#define NOTHING 3
#define NO_TRANSACTION 4

#ifndef ELSEWHERE
#define ELSEWHERE 1 /* whether a payout with the external id may exist before */
#endif

/* The journal: a row per key, and the key that holds the external id (+ 1; 0: none). */
byte state[2];
byte transaction[2] = NO_TRANSACTION;
byte reserved;
bool alive[2]; /* the instance that sends the attempt is alive */

bit killed[2];
bit created[3];
bool lagging[3];
bit flight[2];
bit accepted[2];
bit released[2];
byte crashes = 1;
byte repeats = 1; /* calls that are repeated with their key */

#define SEEN(what) assert(!NEVER_##what)
#ifndef NEVER_found_by_recovery
#define NEVER_found_by_recovery 0
#endif
#ifndef NEVER_external_id_taken
#define NEVER_external_id_taken 0
#endif

/* A transaction that is not its own is what another key would claim by mistake. */
inline record(key, outcome, shown) {
  if
  :: state[key] == IN_PROGRESS || state[key] == UNKNOWN ->
    if
    :: outcome == SUCCEEDED && transaction[1 - key] == shown -> state[key] = UNKNOWN
    :: outcome == SUCCEEDED && transaction[1 - key] != shown ->
      state[key] = SUCCEEDED; transaction[key] = shown;
      assert(created[shown]); /* a success names a transaction of the service */
      assert(shown == key); /* the one that this key created */
      assert(transaction[0] != transaction[1]) /* no two attempts hold one transaction */
    :: outcome == NOT_SENT ->
      state[key] = NOT_SENT; released[key] = 1;
      assert(!created[key] && !flight[key]);
      if :: reserved == key + 1 -> reserved = 0 :: else fi
    :: outcome == UNKNOWN -> state[key] = UNKNOWN
    fi
  :: else
  fi
}

inline lookUp(result) {
  if
  :: created[0] -> result = 0
  :: created[1] -> result = 1
  :: created[2] -> result = 2
  :: (!created[0] || lagging[0]) && (!created[1] || lagging[1]) && (!created[2] || lagging[2]) -> result = NOTHING
  fi
}

proctype Call(byte k) {
  byte r;
again:
  {
    skip;
#ifndef MUT_NO_PREFLIGHT
    atomic {
      if
      :: state[k] == NONE || state[k] == NOT_SENT ->
        lookUp(r);
        if :: r != NOTHING -> SEEN(external_id_taken); goto answered :: else fi
      :: else
      fi;
      r = 0
    }
#endif
    atomic {
      if
      :: state[k] != NONE && state[k] != NOT_SENT -> goto answered
#ifndef MUT_NO_RESERVATION
      :: (state[k] == NONE || state[k] == NOT_SENT) && reserved && reserved != k + 1 -> SEEN(external_id_taken); goto answered
      :: (state[k] == NONE || state[k] == NOT_SENT) && (!reserved || reserved == k + 1) -> skip
#else
      :: state[k] == NONE || state[k] == NOT_SENT -> skip
#endif
      fi;
      state[k] = IN_PROGRESS; reserved = k + 1; alive[k] = true; accepted[k] = 0; released[k] = 0
    }
    atomic {
      if
      :: flight[k] = 1
      :: record(k, NOT_SENT, 0); alive[k] = false; goto answered
      fi
    }
    atomic {
      if
      :: accepted[k] -> record(k, SUCCEEDED, k)
      :: record(k, UNKNOWN, 0) /* the response is lost or late */
      fi;
      alive[k] = false
    }
answered:
    skip
  } unless { killed[k] }
  killed[k] = 0;
  if
  :: atomic { repeats > 0 -> repeats--; r = 0; goto again }
  :: true
  fi
}

/* Claims attempts whose instance died, or whose outcome is unknown. A lookup without result proves nothing. */
proctype Recovery() {
  byte k, r;
end:
  do
  :: atomic {
      if
      :: state[0] == UNKNOWN || (state[0] == IN_PROGRESS && !alive[0]) -> k = 0
      :: state[1] == UNKNOWN || (state[1] == IN_PROGRESS && !alive[1]) -> k = 1
      fi;
      state[k] = UNKNOWN;
      lookUp(r);
      if
      :: r != NOTHING -> SEEN(found_by_recovery); record(k, SUCCEEDED, r)
#ifdef MUT_RELEASED
      :: r == NOTHING -> record(k, NOT_SENT, 0)
#else
      :: r == NOTHING
#endif
      fi;
      k = 0; r = 0
    }
  od
}

proctype Service() {
  byte k;
end:
  do
  :: atomic {
      if :: flight[0] -> k = 0 :: flight[1] -> k = 1 fi;
      flight[k] = 0;
      if
      :: assert(!created[k]); /* at most one payout per key */
        assert(!released[k]);
        created[k] = 1; lagging[k] = true;
        if :: accepted[k] = 1 :: true fi
      :: true /* lost */
      fi;
      k = 0
    }
  :: atomic { lagging[0] -> lagging[0] = false }
  :: atomic { lagging[1] -> lagging[1] = false }
  od
}

proctype Faults() {
end:
  do
  :: atomic { crashes > 0 && alive[0] -> crashes--; alive[0] = false; killed[0] = 1 }
  :: atomic { crashes > 0 && alive[1] -> crashes--; alive[1] = false; killed[1] = 1 }
  od
}

init {
  atomic {
#if ELSEWHERE
    if
    :: created[OTHER] = 1;
#ifdef LAGGING_PREFLIGHT
      lagging[OTHER] = true;
#endif
      skip
    :: true
    fi;
#endif
    run Call(0); run Call(1); run Recovery(); run Service(); run Faults()
  }
}
