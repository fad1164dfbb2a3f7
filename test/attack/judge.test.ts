import { faultsOfGraphql, faultsOfHttp } from './judge';
import { faultOfLine } from './log-breaks';
import { readAnswers } from './wire';

const REQUEST_ID = '5f0c2f0e-7a43-4f0a-9c1e-2f7d5b9e1a11';

const answer = (error: object, status = 400) => ({ status, body: JSON.stringify({ errors: [error] }) });
const good = {
  message: 'The document is not valid.',
  extensions: { code: 'BAD_REQUEST', retryable: false, requestId: REQUEST_ID },
};

test('a good answer is good', () => {
  expect(faultsOfGraphql(answer(good))).toEqual([]);
  expect(faultsOfGraphql({ status: 200, body: '{"data":{"__typename":"Query"}}' })).toEqual([]);
  expect(
    faultsOfGraphql(answer({ ...good, extensions: { ...good.extensions, retryable: true } }, 503)),
  ).toEqual([]);
  expect(faultsOfHttp({ status: 400, body: '' })).toEqual([]);
});

test.each([
  ['a status of 500', answer(good, 500)],
  ['a code for bugs', answer({ ...good, extensions: { ...good.extensions, code: 'INTERNAL_SERVER_ERROR' } })],
  ['no code', answer({ message: 'x', extensions: { retryable: false, requestId: REQUEST_ID } })],
  ['no word on asking again', answer({ message: 'x', extensions: { code: 'X', requestId: REQUEST_ID } })],
  ['no request id', answer({ message: 'x', extensions: { code: 'X', retryable: false } })],
  ['no message', answer({ ...good, message: '' })],
  ['no errors at all', { status: 400, body: '{"errors":[]}' }],
  ['nothing', { status: 200, body: '{}' }],
  ['a page', { status: 400, body: '<html></html>' }],
  ['a stack trace', answer({ ...good, message: 'x\n    at Object.<anonymous> (/app/a:1:1)' })],
  ['a file', answer({ ...good, message: 'in /srv/gateway/dist/server.js' })],
  ['a library', answer({ ...good, message: 'node_modules/graphql' })],
  ['words of the runtime', answer({ ...good, message: 'TypeError: Cannot read properties of undefined' })],
])('an answer with %s is seen to be bad', (_what, judged) => {
  expect(faultsOfGraphql(judged)).not.toEqual([]);
});

test.each([
  ['two lines', '{"a":1}\n{"b":2}\n'],
  ['text', 'hello\n'],
  ['an escape', '{"a":"\x1b[2J"}\n'],
  ['a separator', '{"a":"\u2028"}\n'],
])('a log line of %s is seen to be bad', (_what, line) => {
  expect(faultOfLine(line)).toBeDefined();
  expect(faultOfLine('{"a":1}\n')).toBeUndefined();
});

test('answers are read off the wire one by one, and half an answer is none', () => {
  const one = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: 1\r\nX-A: 2\r\n\r\nhi';
  const other = 'HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nho\r\n0\r\n\r\n';
  const answers = readAnswers(one + other + one.slice(0, -1));
  expect(answers.map(({ status, body }) => [status, body])).toEqual([
    [200, 'hi'],
    [404, 'ho'],
  ]);
  expect(answers[0]?.headers['x-a']).toBe('1, 2');
});
