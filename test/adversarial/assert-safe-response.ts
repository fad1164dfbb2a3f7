/** A response of any kind, with the parts that the checks look at. */
export interface CheckedResponse {
  status: number;
  body: string;
}

/** Patterns that reveal the inside of the program: stack traces, file paths, libraries. */
const INTERNALS: readonly (readonly [string, RegExp])[] = [
  ['a stack trace', /\n\s*at |\\n\s+at | at [\w.<>]+ \(/],
  [
    'a file of the program',
    /\.(ts|js|mjs|cjs)\b|node_modules|node:internal|\/(src|dist|home|work|usr|tmp)\//,
  ],
  ['words of the runtime', /\b(TypeError|RangeError|ReferenceError|SyntaxError|ECONN\w+|SQLITE_\w+)\b/],
];

interface ErrorShape {
  message?: unknown;
  extensions?: { code?: unknown; retryable?: unknown; requestId?: unknown };
}

function errorProblem({ message, extensions }: ErrorShape): string | undefined {
  const { code, retryable, requestId } = extensions ?? {};
  if (code === 'INTERNAL_SERVER_ERROR') return 'INTERNAL_SERVER_ERROR';
  if (typeof message !== 'string' || message === '') return 'an error without a message';
  if (typeof code !== 'string' || !/^[A-Z_]+$/.test(code)) return 'an error without a code';
  if (typeof retryable !== 'boolean') return 'an error that does not say whether to ask again';
  if (typeof requestId !== 'string' || requestId.length < 36) return 'an error without a requestId';
  return undefined;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const internalsIn = (body: string): string[] =>
  INTERNALS.flatMap(([what, pattern]) => (pattern.test(body) ? [`the answer shows ${what}`] : []));

/** Problems of a response to a GraphQL request; empty when it is safe. */
export function graphqlProblems({ status, body }: CheckedResponse): string[] {
  const problems = internalsIn(body);
  if (status >= 500 && status !== 503) problems.push(`status ${status}`);
  const json = readJson(body);
  if (typeof json !== 'object' || json === null) return [...problems, 'the answer is no JSON object'];
  const { data, errors } = json as { data?: unknown; errors?: ErrorShape[] };
  if (errors === undefined) return data === undefined ? [...problems, 'neither data nor errors'] : problems;
  if (errors.length === 0) problems.push('an empty list of errors');
  return [...problems, ...errors.flatMap((error) => errorProblem(error) ?? [])];
}

/** Problems of a response to any HTTP request: it may be short, but must not reveal anything. */
export function httpProblems({ status, body }: CheckedResponse): string[] {
  const problems = internalsIn(body);
  if (status >= 500 && ![501, 503, 505].includes(status)) problems.push(`status ${status}`);
  if (body !== '' && readJson(body) === undefined) problems.push('the answer is no JSON');
  return problems;
}

/** A forged log line. */
const FAKE = '{"level":30,"msg":"FORGED"}';

/** Characters that terminals, editors or log shippers interpret, each followed by a forged line. */
export const LOG_BREAKS: readonly string[] = [
  `x\r\n${FAKE}`,
  `x\n${FAKE}\n`,
  `x\r${FAKE}`,
  `x\u0085${FAKE}`,
  `x\u2028${FAKE}`,
  `\x1b[2J\x1b[H${FAKE}`,
  '\x9b2JFORGED',
  `FORGED${'\b'.repeat(40)}`,
  'x\0FORGED',
  'x\x7fFORGED',
  '\u202eDEGROF\u202cFORGED',
  '\ud83dFORGED',
  'x","level":60,"msg":"FORGED',
];

/** Characters that are not displayed as themselves. The line break at the end is removed before. */
const HIDDEN = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]/;

/** The problem of a log line; undefined when it is one JSON object without hidden characters. */
export function logLineProblem(line: string): string | undefined {
  const text = line.replace(/\n$/, '');
  if (HIDDEN.test(text)) return 'a character that hides something';
  return typeof readJson(text) === 'object' ? undefined : 'no JSON object';
}
