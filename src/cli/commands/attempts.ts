import { attemptsCsv, attemptJson, describeAttempt, attemptLine } from '../attempts/report';
import { ATTEMPT_NOT_FOUND_MESSAGE, openCliSession } from '../attempts/session';
import type { CommandContext } from '../context';

interface OutputOptions {
  json?: boolean;
  jsonl?: boolean;
  csv?: boolean;
}

/** Runs `paygraph attempts list`: prints the attempts with an unknown outcome. */
export async function listUnknownAttempts(
  context: CommandContext,
  { json, jsonl, csv }: OutputOptions,
): Promise<void> {
  await using cliSession = await openCliSession(context);
  const attempts = await cliSession.readUnknownAttempts();
  const { terminal } = context;
  if (csv) terminal.print(attemptsCsv(attempts));
  else if (jsonl) attempts.forEach((attempt) => terminal.print(JSON.stringify(attemptJson(attempt))));
  else if (json) terminal.printJson(attempts.map(attemptJson));
  else
    terminal.print(
      attempts.length === 0 ? 'No attempt has an unknown outcome.' : attempts.map(attemptLine).join('\n'),
    );
}

/** Runs `paygraph attempts show`. Rejects if the attempt is not found. */
export async function showAttempt(
  context: CommandContext,
  idOrKey: string,
  { json }: OutputOptions,
): Promise<void> {
  await using cliSession = await openCliSession(context);
  const attempt = await cliSession.findAttempt(idOrKey);
  if (!attempt) throw new Error(ATTEMPT_NOT_FOUND_MESSAGE);
  if (json) context.terminal.printJson(attemptJson(attempt));
  else context.terminal.print(describeAttempt(attempt));
}
