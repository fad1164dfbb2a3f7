import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Answer, Connection } from './connection';
import { httpText } from './connection';
import type { Fault } from './faulty-service';

type Reply = NonNullable<Fault['reply']>;

const HTML = '<!DOCTYPE html><html><body><h1>Sorry</h1></body></html>';
const HEAD = 'HTTP/1.1 201 Created\r\ncontent-type: application/json\r\n';

/** Answers with that status and a body that says nothing. */
export const status =
  (code: number, headers: Record<string, string> = {}): Reply =>
  (connection) =>
    connection.send({ status: code, json: { message: 'no' }, headers });

/** Answers with that status, in HTML. */
export const html =
  (code: number): Reply =>
  (connection) =>
    connection.send({ status: code, json: {}, headers: { 'content-type': 'text/html' } }, HTML);

/** Answers as it should, but with that in it. */
export const altered =
  (change: Record<string, unknown>): Reply =>
  (connection, { status: code, json }) =>
    connection.send({ status: code, json: { ...Object(json), ...change } });

export const reset: Reply = (connection) => connection.reset();
export const hangUp: Reply = (connection) => connection.end();
export const silence: Reply = () => undefined;

const drip: Reply = (connection) => {
  connection.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
  connection.every(20, () => connection.write('1\r\n \r\n'));
};

const truncate: Reply = (connection, answer) => {
  connection.write(httpText(answer).slice(0, -20));
  connection.end();
};

const truncatedJson: Reply = (connection, answer) =>
  connection.send(answer, JSON.stringify(answer.json).slice(0, -20));

const wrongType: Reply = (connection, answer) =>
  connection.send({ ...answer, headers: { 'content-type': 'text/plain' } });

/** A parser that takes the last of two keys would believe in a transaction that is not there. */
const duplicateKeys: Reply = (connection, answer) =>
  connection.send(answer, JSON.stringify(answer.json).replace(/}$/, `,"transaction_id":"${randomUUID()}"}`));

const endless: Reply = (connection) => {
  connection.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
  connection.every(1, () => connection.write(`10000\r\n${'x'.repeat(0x10000)}\r\n`));
};

const gzipBomb: Reply = ({ socket }, answer) => {
  const bomb = gzipSync(`${JSON.stringify(answer.json)}${' '.repeat(20_000_000)}`);
  socket.write(`${HEAD}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
  socket.write(bomb);
};

/** The same answer twice: the second belongs to no request. */
export const twice: Reply = (connection, answer) => {
  connection.send(answer);
  connection.send(answer);
};

const notHttp: Reply = (connection) => connection.write('SSH-2.0-OpenSSH_9.2\r\n');

const stopInHead: Reply = (connection) => connection.write('HTTP/1.1 201 Created\r\ncontent-ty');

const wrongCurrency = (connection: Connection, answer: Answer): void =>
  altered({ amount: { currency: 'XAF', value: '10.00' } })(connection, answer);

const wrongValue = (connection: Connection, { status: code, json }: Answer): void => {
  const { amount } = Object(json) as { amount?: object };
  connection.send({ status: code, json: { ...Object(json), amount: { ...amount, value: '999999.99' } } });
};

/** Everything that leaves open whether the service acted, by name. */
export const LOST_ANSWERS: Record<string, Reply> = {
  'resets the connection': reset,
  'closes the connection': hangUp,
  'says nothing': silence,
  drips: drip,
  'stops in the middle of the head': stopInHead,
  'cuts the answer': truncate,
  'sends half of the JSON': truncatedJson,
  'sends JSON as text': wrongType,
  'sends a key twice': duplicateKeys,
  'never ends its answer': endless,
  'sends a gzip bomb': gzipBomb,
  'does not speak HTTP': notHttp,
  'answers 202': status(202),
  'answers 301': status(301, { location: '/elsewhere/' }),
  'answers 307': status(307, { location: '/elsewhere/' }),
  'answers 408': status(408),
  'answers 409': status(409),
  'answers 425': status(425),
  'answers 500': status(500),
  'answers 502 in HTML': html(502),
  'answers 503 with Retry-After': status(503, { 'retry-after': '1' }),
  'answers 504': status(504),
  'answers with an id that is none': altered({ transaction_id: 'order-1' }),
  'answers for another channel': altered({ channel: randomUUID() }),
  'answers for another currency': wrongCurrency,
  'answers for another value': wrongValue,
  'answers for another external id': altered({ external_id: 'another order' }),
};
