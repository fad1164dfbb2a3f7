import 'reflect-metadata';
import { attemptJson, describeAttempt } from '../attempts/attempt-view';
import { readName, readOperator, readReason } from '../attempts/operator';
import { Session } from '../attempts/session';
import { carryOut, propose } from '../attempts/settle';
import { readSettleFile } from '../attempts/settle-file';
import { planLines, planOne, readRequest, type PlannedSettle } from '../attempts/settle-plan';
import { report } from '../attempts/settle-report';
import { EXIT, UsageError, type Context } from '../context';
import { readDuration } from '../options';
import { isUuid } from '../../schema/scalars';

interface FilterOptions {
  olderThan?: string;
  kind?: string;
  channel?: string;
}

interface SettleOptions extends FilterOptions {
  reason: string;
  by?: string;
  transactionId?: string;
  status: string;
  file?: string;
  all?: boolean;
  yes?: boolean;
  json?: boolean;
}

type Names = readonly [attempt?: string, outcome?: string];
type Plan = (session: Session) => Promise<PlannedSettle[]>;

/** `paygraph attempts settle`. Settles one attempt, those of a file, or those selected by a filter. */
export async function settle(context: Context, names: Names, options: SettleOptions): Promise<number> {
  const { json, yes } = options;
  const reason = readReason(options.reason);
  const givenName = readName(options.by);
  const plan = readPlan(names, options);
  const isSingle = names[0] !== undefined;
  await using session = await Session.open(context);
  let planned = await plan(session);
  const { terminal } = context;
  if (!isSingle && !yes) {
    report(terminal, planned, { json, isCarriedOut: false });
    terminal.say('Nothing was changed. Repeat the command with --yes to settle.');
    return exitCode(planned);
  }
  const { sudoUser, settleApproval } = session.config;
  const decision = { operator: readOperator(sudoUser, givenName), reason };
  let proposal: string | undefined;
  if (!settleApproval) planned = await carryOut(session, planned, decision);
  else if (planned.some(({ state }) => state === 'ready'))
    ({ id: proposal, results: planned } = await propose(session, planned, decision));
  if (isSingle && proposal === undefined) return printSettled(context, planned, json);
  report(terminal, planned, { json, isCarriedOut: true, proposal });
  if (proposal !== undefined)
    terminal.say(
      `Nothing is settled yet: another user has to run "paygraph attempts approve ${proposal}" within 24 hours.`,
    );
  return exitCode(planned);
}

const exitCode = (planned: readonly PlannedSettle[]): number =>
  planned.some(({ state }) => state === 'refused') ? EXIT.failed : EXIT.done;

function printSettled({ terminal }: Context, [planned]: readonly PlannedSettle[], json = false): number {
  if (!planned?.attempt || planned.message !== null) throw new Error(planned?.message ?? '');
  if (json) terminal.printJson(attemptJson(planned.attempt));
  else terminal.print(describeAttempt(planned.attempt));
  if (planned.state === 'already_settled')
    terminal.say('The attempt had this outcome already. Nothing was changed.');
  return EXIT.done;
}

/** Validates arguments and options before the journal is opened. */
function readPlan([attempt, outcome = '']: Names, options: SettleOptions): Plan {
  const { file, all, transactionId, status } = options;
  if ([file !== undefined, all === true, attempt !== undefined].filter(Boolean).length !== 1)
    throw new UsageError('Expected either an attempt with its outcome, or --file, or --all.');
  if (attempt !== undefined) {
    const request = readRequest({ attempt, outcome, transactionId, status });
    return async (session) => [await planOne(session, request)];
  }
  if (transactionId !== undefined) throw new UsageError('--transaction-id requires a single attempt.');
  if (file === undefined) return planFilter(options);
  const lines = readSettleFile(file, status);
  return (session) => planLines(session, lines);
}

/** Plans to settle unknown attempts as not sent. `succeeded` requires a transaction id for each, so a file. */
function planFilter({ olderThan, kind, channel }: FilterOptions): Plan {
  if (olderThan === undefined) throw new UsageError('--all requires --older-than, such as 90m, 2h or 3d.');
  const olderThanMs = readDuration('--older-than', olderThan);
  if (olderThanMs <= 0) throw new UsageError('--older-than: expected a positive duration.');
  if (kind !== undefined && kind !== 'payment' && kind !== 'payout')
    throw new UsageError('--kind: expected payment or payout.');
  if (channel !== undefined && !isUuid(channel)) throw new UsageError('--channel: expected a UUID.');
  return async (session) => {
    const before = Date.now() - olderThanMs;
    const selected = (await session.unknownAttempts()).filter(
      (attempt) =>
        attempt.startedAt < before &&
        (kind === undefined || attempt.kind === kind) &&
        (channel === undefined || attempt.channel.toLowerCase() === channel.toLowerCase()),
    );
    return selected.map((attempt) => ({
      line: null,
      name: attempt.id,
      request: { attempt: attempt.id, outcome: 'not_sent', transactionId: null, status: null },
      attempt,
      state: 'ready',
      message: null,
    }));
  };
}
