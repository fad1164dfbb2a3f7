import 'reflect-metadata';
import { describeAttempt, factsOf } from '../attempts/attempt-view';
import { carryOut, type Act } from '../attempts/carry-out';
import { readName, readOperator, readReason } from '../attempts/operator';
import { propose } from '../attempts/propose';
import { withAudit, withJournal, type Session } from '../attempts/session';
import { readSettleFile } from '../attempts/settle-file';
import { filterRequests, readFilter, type FilterOptions } from '../attempts/settle-filter';
import { planLines, planOne, type PlannedSettle } from '../attempts/settle-plan';
import { report } from '../attempts/settle-report';
import { readRequest } from '../attempts/settle-request';
import { EXIT, UsageError, type Context } from '../context';

interface GivenOptions extends FilterOptions {
  reason: string;
  by?: string;
  transactionId?: string;
  status: string;
  file?: string;
  yes?: boolean;
  json?: boolean;
}

/** The options, checked as far as they are for every way to name attempts. */
interface SettleOptions extends GivenOptions {
  givenName: string | null;
}

/** `paygraph attempts settle`: one attempt, those of a file, or those that a filter selects. */
export async function settle(
  context: Context,
  [attempt, outcome]: [attempt?: string, outcome?: string],
  given: GivenOptions,
): Promise<number> {
  const options = { ...given, reason: readReason(given.reason), givenName: readName(given.by) };
  const { file, all } = options;
  if ([file !== undefined, all === true, attempt !== undefined].filter(Boolean).length !== 1)
    throw new UsageError('Name one attempt with its outcome, or give --file, or --all.');
  if (attempt !== undefined) return settleOne(context, { ...options, attempt, outcome });
  if (options.transactionId !== undefined) throw new UsageError('--transaction-id is for one attempt.');
  const plan = file === undefined ? planFilter(options) : planFile(file, options.status);
  return settleMany(context, options, plan);
}

type Plan = (session: Session, context: Context) => Promise<PlannedSettle[]>;

function planFile(file: string, status: string): Plan {
  const lines = readSettleFile(file, status);
  return (session, { terminal }) =>
    planLines(session, lines, (done) => terminal.progress(`Checking ${done} of ${lines.length} …`));
}

function planFilter(options: FilterOptions): Plan {
  const filter = readFilter(options);
  return (session, context) => filterRequests(context, session, filter);
}

/** Lets the user look before anything is done, unless --yes is given. */
async function settleMany(context: Context, options: SettleOptions, plan: Plan): Promise<number> {
  const { terminal } = context;
  const { json, yes = false } = options;
  const { planned, proposal } = await withJournal(context, async (session) => {
    const checked = await plan(session, context);
    return yes
      ? act(context, session, { planned: checked, options })
      : { planned: checked, proposal: undefined };
  });
  report(terminal, planned, { json, isCarriedOut: yes, proposal });
  if (!yes) terminal.say('Nothing was changed. With --yes it is done.');
  if (proposal !== undefined) terminal.say(approvalNeeded(proposal));
  return planned.some(({ state }) => state === 'refused') ? EXIT.failed : EXIT.done;
}

interface OneOptions extends SettleOptions {
  attempt: string;
  outcome: string | undefined;
}

async function settleOne(context: Context, options: OneOptions): Promise<number> {
  const { attempt: name, outcome = '', transactionId, status, json } = options;
  const request = readRequest({ attempt: name, outcome, transactionId, status });
  if (typeof request === 'string') throw new UsageError(request);
  const { planned, proposal } = await withJournal(context, async (session) =>
    act(context, session, { planned: [await planOne(session, request)], options }),
  );
  const [{ attempt, state, message }] = planned as [PlannedSettle];
  if (message !== null || !attempt) throw new Error(message ?? '');
  const { terminal } = context;
  if (proposal !== undefined) report(terminal, planned, { json, isCarriedOut: true, proposal });
  else if (json) terminal.printJson(factsOf(attempt));
  else terminal.print(describeAttempt(attempt));
  if (state === 'already_settled') terminal.say('It was settled so before; nothing was changed.');
  if (proposal !== undefined) terminal.say(approvalNeeded(proposal));
  return EXIT.done;
}

const approvalNeeded = (proposal: string): string =>
  `Nothing is settled yet: another user has to run "paygraph attempts approve ${proposal}" within 24 hours.`;

interface Acted {
  planned: PlannedSettle[];
  /** The id of what was proposed; undefined where it was settled at once. */
  proposal: string | undefined;
}

/** Settles what is ready, or proposes it where another operator has to approve. */
async function act(
  context: Context,
  session: Session,
  { planned, options }: { planned: PlannedSettle[]; options: SettleOptions },
): Promise<Acted> {
  if (!planned.some(({ state }) => state === 'ready')) return { planned, proposal: undefined };
  const { config } = session;
  const by: Act = { operator: readOperator(config.sudoUser, options.givenName), reason: options.reason };
  return withAudit(context, session, async (audit) => {
    if (config.settleApproval) {
      const { id, results } = await propose(planned, { session, audit, act: by });
      return { planned: results, proposal: id };
    }
    const onProgress = (done: number): void =>
      context.terminal.progress(`Settling ${done} of ${planned.length} …`);
    const results = await carryOut(planned, { session, audit, act: by, onProgress });
    return { planned: results, proposal: undefined };
  });
}
