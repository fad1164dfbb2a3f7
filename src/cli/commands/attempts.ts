import 'reflect-metadata';
import { asCsv, describeAttempt, factsOf, summaryOf } from '../attempts/attempt-view';
import { NO_ATTEMPT, findAttempt, unknownAttempts, withJournal } from '../attempts/session';
import { EXIT, type Context } from '../context';

interface Listing {
  json?: boolean;
  jsonl?: boolean;
  csv?: boolean;
}

/** `paygraph attempts list`. */
export async function list(context: Context, { json, jsonl, csv }: Listing): Promise<number> {
  const unknown = await withJournal(context, (session) => unknownAttempts(context, session));
  const { terminal } = context;
  if (csv) terminal.print(asCsv(unknown));
  else if (jsonl) unknown.forEach((attempt) => terminal.print(JSON.stringify(factsOf(attempt))));
  else if (json) terminal.printJson(unknown.map(factsOf));
  else terminal.print(unknown.length === 0 ? 'No outcome is unknown.' : unknown.map(summaryOf).join('\n'));
  return EXIT.done;
}

/** `paygraph attempts show`. Rejects where there is no such attempt. */
export async function show(context: Context, name: string, { json }: { json?: boolean }): Promise<number> {
  const attempt = await withJournal(context, (session) => findAttempt(session, name));
  if (!attempt) throw new Error(NO_ATTEMPT);
  if (json) context.terminal.printJson(factsOf(attempt));
  else context.terminal.print(describeAttempt(attempt));
  return EXIT.done;
}
