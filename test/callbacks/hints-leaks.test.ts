import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { until } from '../exactly-once/support/gate';
import { ECHOED_TYPES, brokenWith, refusalsWith } from '../gateway/fixtures/echoing-service';
import { createPayment, createPayout } from '../methods/selection';
import { callBack, tokenIn } from './support/called-back';
import { RepeatingRig, about, declineWith, echoOf, newPayment, newPayout } from './support/repeating-service';

let rig: RepeatingRig;

beforeAll(async () => {
  rig = await RepeatingRig.start();
});

/** How a service may write down what it was told. */
const WRITINGS: Record<string, (address: string) => string> = {
  'the address': (address) => address,
  'the address within a sentence': (address) => `Calling ${address}, please wait.`,
  'the address, percent-encoded': encodeURIComponent,
  'the path alone': (address) => new URL(address).pathname,
  'the token': tokenIn,
  'the token in base64': (address) => Buffer.from(tokenIn(address)).toString('base64'),
  'the token in hex': (address) => Buffer.from(tokenIn(address)).toString('hex'),
};

test('The search finds the token in every writing', async () => {
  await rig.ask(createPayment('{ __typename }'), { input: newPayment() });
  for (const write of Object.values(WRITINGS))
    expect(rig.found(`"${write(rig.lastAddress)}"`)).not.toEqual([]);
});

describe.each(Object.entries(WRITINGS))(
  'Nobody sees the token where the service repeats %s',
  (_how, write) => {
    test('in the answer to a create', async () => {
      for (const type of ECHOED_TYPES) {
        rig.replyToPost = (request) =>
          about({ ...echoOf(type, write(rig.lastAddress)), amount: undefined })(request);
        expect(await rig.ask(createPayment(), { input: newPayment() })).toContain('"PaymentSuccess"');
        expect(await rig.ask(createPayout(), { input: newPayout() })).toContain('"PayoutSuccess"');
      }
    });

    test('in a decline', async () => {
      rig.replyToPost = (request) =>
        about({ ...declineWith(write(rig.lastAddress)), amount: undefined })(request);
      expect(await rig.ask(createPayment(), { input: newPayment() })).toContain('insufficient funds');
      expect(await rig.ask(createPayout(), { input: newPayout() })).toContain('insufficient funds');
    });

    test('in a refusal, a fault or an answer that is broken', async () => {
      rig.replyToGet = () => ({ status: 404, json: {} });
      const rows = (text: string) => [...refusalsWith(text), ...brokenWith(text)];
      rig.replyToPost = ({ json }) => {
        const [, reply] = rows(write(String(json['callback_url'])))[Number(json['description'])] ?? [];
        return reply ?? { status: 500 };
      };
      const answers = await Promise.all(
        rows('').map((_row, place) =>
          rig.ask(createPayment(), { input: { ...newPayment(), description: String(place) } }),
        ),
      );
      expect(answers.join()).toContain('"RejectedByServiceError"');
      expect(answers.join()).toContain('"OutcomeUnknownError"');
    });
  },
);

test('Nothing of any token stands in journal, audit log or log, also when callbacks came', async () => {
  rig.replyToGet = about({ status: 'completed', amount: { currency: 'INR', value: '10.00' } });
  const { client } = rig;
  const [keys, before] = [[] as string[], rig.seen.length];
  for (const reply of [about({ status: 'processing' }), () => ({ status: 400, json: { message: 'no' } })]) {
    rig.replyToPost = reply;
    const input = newPayment();
    await rig.ask(createPayment('{ __typename }'), { input });
    keys.push(String(input['idempotencyKey']));
    await callBack(client, rig.lastAddress, JSON.stringify({ callback: rig.lastAddress }));
    const token = tokenIn(rig.lastAddress);
    for (const target of [`/elsewhere/${token}`, `/callbacks/${token}/more`, `/graphql?token=${token}`])
      await fetch(client.gateway.url + target, { method: 'POST', headers: { 'x-token': token } });
  }
  await until(() => rig.seen.slice(before).some(({ method }) => method === 'GET'), Boolean);
  const files = readdirSync(rig.folder);
  expect(files).toEqual(expect.arrayContaining(['audit.log', 'journal.db', 'journal.db-wal']));
  const contents = files.map((name): [string, Buffer] => [name, readFileSync(path.join(rig.folder, name))]);
  const everything = Buffer.concat(contents.map(([, bytes]) => bytes)).toString('latin1');
  for (const key of keys) expect(everything).toContain(key);
  const all = [...contents, ['log', Buffer.from(rig.logLines.join(''))] as const];
  expect(all.flatMap(([name, bytes]) => rig.found(bytes).map((how) => `${name}: ${how}`))).toEqual([]);
  const tokens = rig.addresses.map(tokenIn);
  expect(tokens.length).toBeGreaterThan(200);
  expect(tokens.filter((token) => everything.includes(token))).toEqual([]);
});
