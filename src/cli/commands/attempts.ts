import 'reflect-metadata';
import { asCsv, attemptJson, describeAttempt, summaryOf } from '../attempts/attempt-view';
import { NO_ATTEMPT, Session } from '../attempts/session';
import { EXIT, type Context } from '../context';

interface ListOptions {
  json?: boolean;
  jsonl?: boolean;
  csv?: boolean;
}

/** `paygraph attempts list`. */
export async function list(context: Context, { json, jsonl, csv }: ListOptions): Promise<number> {
  await using session = await Session.open(context);
  const unknown = await session.unknownAttempts();
  const { terminal } = context;
  if (csv) terminal.print(asCsv(unknown));
  else if (jsonl) unknown.forEach((attempt) => terminal.print(JSON.stringify(attemptJson(attempt))));
  else if (json) terminal.printJson(unknown.map(attemptJson));
  else
    terminal.print(
      unknown.length === 0 ? 'No attempt has an unknown outcome.' : unknown.map(summaryOf).join('\n'),
    );
  return EXIT.done;
}

/** `paygraph attempts show`. Rejects where there is no such attempt. */
export async function show(context: Context, name: string, { json }: { json?: boolean }): Promise<number> {
  await using session = await Session.open(context);
  const attempt = await session.find(name);
  if (!attempt) throw new Error(NO_ATTEMPT);
  if (json) context.terminal.printJson(attemptJson(attempt));
  else context.terminal.print(describeAttempt(attempt));
  return EXIT.done;
}
