import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { httpResponse } from './connection';
import type { FaultReply } from './fake-payment-service';

const HTML = '<!DOCTYPE html><html><body><h1>Sorry</h1></body></html>';
const HEAD = 'HTTP/1.1 201 Created\r\ncontent-type: application/json\r\n';

export const status =
  (code: number, headers: Record<string, string> = {}): FaultReply =>
  (connection) =>
    connection.send({ status: code, json: { message: 'no' }, headers });

export const html =
  (code: number): FaultReply =>
  (connection) =>
    connection.send({ status: code, json: {}, headers: { 'content-type': 'text/html' } }, HTML);

/** Returns a fault that sends the regular response with changed fields. */
export const altered =
  (change: Record<string, unknown>): FaultReply =>
  (connection, { status: code, json }) =>
    connection.send({ status: code, json: { ...Object(json), ...change } });

export const reset: FaultReply = (connection) => connection.reset();
export const closeConnection: FaultReply = (connection) => connection.end();
export const noResponse: FaultReply = () => undefined;

/** A body that never ends, in chunks. */
const endless =
  (ms: number, chunk: string): FaultReply =>
  (connection) => {
    connection.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
    connection.every(ms, () => connection.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`));
  };

/** Responses and faults after which the outcome is unknown, by name. */
export const LOST_RESPONSES: Record<string, FaultReply> = {
  'resets the connection': reset,
  'closes the connection': closeConnection,
  'sends nothing': noResponse,
  'sends an endless body slowly': endless(20, ' '),
  'stops in the middle of the head': (connection) => connection.write('HTTP/1.1 201 Created\r\ncontent-ty'),
  'cuts off the response': (connection, response) => connection.end(httpResponse(response).subarray(0, -20)),
  'sends half of the JSON': (connection, response) =>
    connection.send(response, JSON.stringify(response.json).slice(0, -20)),
  'sends JSON with the content type text/plain': (connection, response) =>
    connection.send({ ...response, headers: { 'content-type': 'text/plain' } }),
  // A parser that takes the last value would read a wrong transaction id.
  'sends JSON with a repeated name': (connection, response) => {
    const json = JSON.stringify(response.json);
    connection.send(response, json.replace(/}$/, `,"transaction_id":"${randomUUID()}"}`));
  },
  'sends an endless body fast': endless(1, 'x'.repeat(0x10000)),
  'sends a gzip bomb': ({ socket }, response) => {
    const document = gzipSync(`${JSON.stringify(response.json)}${' '.repeat(20_000_000)}`);
    socket.write(`${HEAD}content-encoding: gzip\r\ncontent-length: ${document.length}\r\n\r\n`);
    socket.write(document);
  },
  'does not speak HTTP': (connection) => connection.write('SSH-2.0-OpenSSH_9.2\r\n'),
  'responds with 202': status(202),
  'responds with 301': status(301, { location: '/elsewhere/' }),
  'responds with 409': status(409),
  'responds with 500': status(500),
  'responds with 502 in HTML': html(502),
  'responds with 503 and Retry-After': status(503, { 'retry-after': '1' }),
  'responds with a transaction id that is no UUID': altered({ transaction_id: 'order-1' }),
  'responds with another channel': altered({ channel: randomUUID() }),
  'responds with another currency': altered({ amount: { currency: 'XAF', value: '10.00' } }),
  'responds with another value of the amount': altered({ amount: { currency: 'INR', value: '999999.99' } }),
  'responds with another external id': altered({ external_id: 'another order' }),
};
