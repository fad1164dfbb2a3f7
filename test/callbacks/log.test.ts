import { randomUUID } from 'node:crypto';
import { CallbackTokens } from '../../src/operations/callback-tokens';
import { Wire } from '../attack/wire';
import { bare, startListener, withBody, type Listener } from './support/listener';

const CARD = '4111111111111111';
const token = new CallbackTokens('a secret').of(randomUUID());

let listener: Listener;

beforeAll(async () => {
  listener = await startListener({
    more: (app) =>
      app.get('/broken', () => {
        throw new Error('a bug');
      }),
  });
});

async function send(text: string): Promise<void> {
  const wire = await Wire.open(listener.base);
  await wire.write(text).end();
}

const close = 'Connection: close';
const line = `POST /callbacks/${token}`;
const card = JSON.stringify({ card: { number: CARD, security_code: '737' } });

describe('Nothing of a callback is logged', () => {
  test.each([
    ['a good one', withBody(line, '{}', [close])],
    ['one that holds a card number', withBody(line, card, [close, 'Content-Type: application/json'])],
    [
      'a card number in JSON that breaks off',
      withBody(line, card.slice(0, -5), [close, 'Content-Type: text/json']),
    ],
    ['a card number in chunks', `${bare(line, ['Transfer-Encoding: chunked'])}10\r\n${CARD}\r\n0\r\n\r\n`],
    ['a card number in a chunk that is none', `${bare(line, ['Transfer-Encoding: chunked'])}${CARD}x\r\n`],
    ['a card number in a body that is too long', withBody(line, card.repeat(3000), [close])],
    ['a card number in the address', bare(`GET /callbacks/${CARD}?number=${CARD}`, [close])],
    ['a card number in an address that cannot be decoded', bare(`GET /callbacks/%zz${CARD}`, [close])],
    ['a card number in a header', bare(line, [close, `User-Agent: ${CARD}`, `X-Request-Id: ${CARD}`])],
    ['a card number in a request that is no HTTP', `${line} ${CARD}\r\n\r\n`],
    ['a forged one by another method', bare(`PURGE /callbacks/${token.slice(1)}A`, [close])],
    ['one with something behind its token', bare(`${line}/more`, [close])],
  ])('%s', async (_name, text) => {
    listener.logLines.length = 0;
    await send(text);
    expect(listener.logLines).toEqual([]);
  });

  test('and where something is, this log shows it', async () => {
    listener.logLines.length = 0;
    await send(bare('GET /broken', [close]));
    expect(listener.logLines).toHaveLength(1);
  });
});
