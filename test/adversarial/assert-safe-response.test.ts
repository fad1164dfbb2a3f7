import { logLineProblem, graphqlProblems, httpProblems, type CheckedResponse } from './assert-safe-response';

const requestId = '5f0c2f0e-7a43-4f0a-9c1e-2f7d5b9e1a11';
const message = 'The document is not valid.';
const extensions = { code: 'BAD_REQUEST', retryable: false, requestId };

const response = (error: object, status = 400): CheckedResponse => ({
  status,
  body: JSON.stringify({ errors: [error] }),
});
const withExtensions = (more: object): CheckedResponse =>
  response({ message, extensions: { ...extensions, ...more } });

describe('The safety checks that fuzz tests apply to responses and log lines', () => {
  test('accept a safe response and a safe log line', () => {
    const refusal = response({ message, extensions: { ...extensions, retryable: true } }, 503);
    for (const good of [refusal, { status: 200, body: '{"data":{"__typename":"Query"}}' }])
      expect(graphqlProblems(good)).toEqual([]);
    expect(httpProblems({ status: 400, body: '' })).toEqual([]);
    expect(logLineProblem('{"a":1}\n')).toBeUndefined();
  });

  test.each<[string, CheckedResponse]>([
    ['a status of 500', response({ message, extensions }, 500)],
    ['the code INTERNAL_SERVER_ERROR', withExtensions({ code: 'INTERNAL_SERVER_ERROR' })],
    ['no error code', withExtensions({ code: undefined })],
    ['no retryable field', withExtensions({ retryable: undefined })],
    ['no request id', withExtensions({ requestId: undefined })],
    ['an empty list of errors', { status: 400, body: '{"errors":[]}' }],
    ['neither data nor errors', { status: 200, body: '{}' }],
    ['an HTML body', { status: 400, body: '<html></html>' }],
    ['a stack trace', response({ message: 'x\n    at Object.<anonymous> (/app/a:1:1)', extensions })],
    ['a file path', response({ message: 'in /srv/gateway/dist/server.js', extensions })],
    ['a JavaScript error name', response({ message: 'TypeError: Cannot read properties', extensions })],
  ])('reject a response with %s', (_what, checked) => {
    expect(graphqlProblems(checked)).not.toEqual([]);
  });

  test.each(['{"a":1}\n{"b":2}\n', 'hello\n', '{"a":"\x1b[2J"}\n', '{"a":"\u2028"}\n'])(
    'reject a log line that is not exactly one JSON object, or that has hidden characters: %j',
    (line) => expect(logLineProblem(line)).toBeDefined(),
  );
});
