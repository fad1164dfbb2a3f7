export interface CheckedResponse {
  status: number;
  body: string;
}

/** Patterns of texts that reveal internals of the program, with a description of each. */
const INTERNALS: readonly (readonly [string, RegExp])[] = [
  ['a stack trace', /\n\s*at |\\n\s+at | at [\w.<>]+ \(/],
  ['a file path', /\.(ts|js|mjs|cjs)\b|node_modules|node:internal|\/(src|dist|home|work|usr|tmp)\//],
  ['a runtime error name', /\b(TypeError|RangeError|ReferenceError|SyntaxError|ECONN\w+|SQLITE_\w+)\b/],
];

interface ErrorShape {
  message?: unknown;
  extensions?: { code?: unknown; retryable?: unknown; requestId?: unknown };
}

const isSafeError = ({ message, extensions: { code, retryable, requestId } = {} }: ErrorShape): boolean =>
  code !== 'INTERNAL_SERVER_ERROR' &&
  [typeof message, typeof code, typeof retryable].join() === 'string,string,boolean' &&
  String(requestId).length >= 36;

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const internalsIn = (body: string): string[] =>
  INTERNALS.flatMap(([what, pattern]) => (pattern.test(body) ? [`the response contains ${what}`] : []));

/** Returns the problems of a response to a GraphQL request; an empty list if the response is safe. */
export function graphqlProblems({ status, body }: CheckedResponse): string[] {
  const problems = internalsIn(body);
  if (status >= 500 && status !== 503) problems.push(`status ${status}`);
  const json = readJson(body);
  if (typeof json !== 'object' || json === null) return [...problems, 'the response is not a JSON object'];
  const { data, errors } = json as { data?: unknown; errors?: ErrorShape[] };
  if (errors === undefined) return data === undefined ? [...problems, 'neither data nor errors'] : problems;
  if (errors.length === 0) problems.push('an empty list of errors');
  const unsafe = errors.filter((error) => !isSafeError(error));
  return [...problems, ...unsafe.map((error) => JSON.stringify(error))];
}

/** Returns the problems of a response to any HTTP request, whose body may be empty; an empty list if it is safe. */
export function httpProblems({ status, body }: CheckedResponse): string[] {
  const problems = internalsIn(body);
  if (status >= 500 && ![501, 503, 505].includes(status)) problems.push(`status ${status}`);
  if (body !== '' && readJson(body) === undefined) problems.push('the response is not JSON');
  return problems;
}

const FORGED_LINE = '{"level":30,"msg":"FORGED"}';

/** Texts that try to forge log lines by characters that terminals, editors or log shippers interpret. */
export const LOG_BREAKS: readonly string[] = [
  `x\r\n${FORGED_LINE}`,
  `x\n${FORGED_LINE}\n`,
  `x\r${FORGED_LINE}`,
  `x\u0085${FORGED_LINE}`,
  `x\u2028${FORGED_LINE}`,
  `\x1b[2J\x1b[H${FORGED_LINE}`,
  '\x9b2JFORGED',
  `FORGED${'\b'.repeat(40)}`,
  'x\0FORGED',
  'x\x7fFORGED',
  '\u202eDEGROF\u202cFORGED',
  '\ud83dFORGED',
  'x","level":60,"msg":"FORGED',
];

const HIDDEN = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]/;

/** Returns the problem of a log line; undefined if the line is one JSON object without hidden characters. */
export function logLineProblem(line: string): string | undefined {
  const text = line.replace(/\n$/, '');
  if (HIDDEN.test(text)) return 'a control character or another hidden character';
  return typeof readJson(text) === 'object' ? undefined : 'not a JSON object';
}
