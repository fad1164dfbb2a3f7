import { parseReason } from '../attempts/operator';
import { attemptJson, describeAttempt, printSettleReport } from '../attempts/report';
import { openCliSession, type CliSession } from '../attempts/session';
import { settleReadyRequests, storeProposal } from '../attempts/settle';
import { readSettleFile } from '../attempts/settle-file';
import { planSettleFile, planSettle, toSettleRequest, type PlannedSettle } from '../attempts/settle-plan';
import { EXIT_CODE, UsageError, type CommandContext } from '../context';
import type { Terminal } from '../terminal';

interface SettleOptions {
  reason: string;
  by?: string;
  transactionId?: string;
  status: string;
  file?: string;
  all?: boolean;
  /** Minimum age of the attempts that --all selects, in ms. */
  olderThan?: number;
  kind?: 'payment' | 'payout';
  channel?: string;
  yes?: boolean;
  json?: boolean;
}

/** Reads the selected attempts from the journal. Decides which of the requested outcomes can be recorded. */
type SettlePlanner = (cliSession: CliSession) => Promise<PlannedSettle[]>;

/** Runs `paygraph attempts settle` for one attempt, for those in a file, or for those that --all selects. */
export async function settle(
  context: CommandContext,
  idOrKey: string | undefined,
  outcome: string | undefined,
  options: SettleOptions,
): Promise<number> {
  const { json, yes } = options;
  const reason = parseReason(options.reason);
  const isSingleAttempt = idOrKey !== undefined;
  const settlePlanner = createPlanner(idOrKey, outcome ?? '', options);
  await using cliSession = await openCliSession(context, options.by);
  const { terminal } = context;
  let plannedSettles = await settlePlanner(cliSession);
  if (!isSingleAttempt && !yes) {
    const exitCode = printSettleReport(terminal, plannedSettles, { json, isCarriedOut: false });
    const actionText = cliSession.config.settleApproval ? 'propose these outcomes' : 'settle';
    terminal.printMessage(`Nothing was changed. Repeat the command with --yes to ${actionText}.`);
    return exitCode;
  }
  let proposalId: string | undefined;
  if (!cliSession.config.settleApproval)
    plannedSettles = await settleReadyRequests(cliSession, plannedSettles, { reason });
  else if (plannedSettles.some(({ state }) => state === 'ready'))
    ({ proposalId, plannedSettles } = await storeProposal(cliSession, plannedSettles, { reason }));
  if (isSingleAttempt && proposalId === undefined) return printSettledAttempt(terminal, plannedSettles, json);
  const exitCode = printSettleReport(terminal, plannedSettles, { json, isCarriedOut: true, proposalId });
  if (proposalId !== undefined)
    terminal.printMessage(
      `Nothing is settled yet: another user has to run "paygraph attempts approve ${proposalId}" within 24 hours.`,
    );
  return exitCode;
}

function printSettledAttempt(
  terminal: Terminal,
  [plannedSettle]: readonly PlannedSettle[],
  json = false,
): number {
  if (!plannedSettle?.attempt || plannedSettle.refusal !== null)
    throw new Error(plannedSettle?.refusal ?? '');
  if (json) terminal.printJson(attemptJson(plannedSettle.attempt));
  else terminal.print(describeAttempt(plannedSettle.attempt));
  if (plannedSettle.state === 'already_settled')
    terminal.printMessage('The attempt already had this outcome. Nothing was changed.');
  return EXIT_CODE.done;
}

/**
 * Validates the arguments, the options and the file before the journal is opened. Returns the function that reads the
 * journal.
 * @throws UsageError or InputError if an argument, an option or the file is invalid
 */
function createPlanner(idOrKey: string | undefined, outcome: string, options: SettleOptions): SettlePlanner {
  const { file: filePath, all, transactionId, status, olderThan, kind, channel } = options;
  if ([filePath !== undefined, all === true, idOrKey !== undefined].filter(Boolean).length !== 1)
    throw new UsageError(
      'attempts settle: expected exactly one of: an attempt with its outcome, --file, --all.',
    );
  if (!all && [olderThan, kind, channel].some((filter) => filter !== undefined))
    throw new UsageError('attempts settle: --older-than, --kind and --channel require --all.');
  if (idOrKey !== undefined) {
    const request = toSettleRequest({ idOrKey, outcome, transactionId, status });
    return async (cliSession) => [await planSettle(cliSession, request)];
  }
  if (transactionId !== undefined)
    throw new UsageError('--transaction-id cannot be combined with --file or --all.');
  if (filePath === undefined) return createNotSentPlanner(options);
  const fileLines = readSettleFile(filePath, status);
  return (cliSession) => planSettleFile(cliSession, fileLines);
}

/** Returns a planner that requests `not_sent` for all selected attempts. Throws a UsageError without --older-than. */
function createNotSentPlanner({ olderThan, kind, channel }: SettleOptions): SettlePlanner {
  if (olderThan === undefined) throw new UsageError('--all requires --older-than, such as 90m, 2h or 3d.');
  return async (cliSession) => {
    const startedBefore = Date.now() - olderThan;
    const selectedAttempts = (await cliSession.readUnknownAttempts()).filter(
      (attempt) =>
        attempt.startedAt < startedBefore &&
        (kind === undefined || attempt.kind === kind) &&
        (channel === undefined || attempt.channel.toLowerCase() === channel),
    );
    return selectedAttempts.map((attempt) => {
      const { id } = attempt;
      const request = { idOrKey: id, outcome: 'not_sent', transactionId: null, status: null } as const;
      return { lineNumber: null, idOrKey: id, request, attempt, state: 'ready', refusal: null };
    });
  };
}
