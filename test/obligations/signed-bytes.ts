import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Level, Obligation } from './obligation';
import { created, paymentRequest, without } from './samples';
import { ENDPOINTS, type Resource, type Service, type Signing } from './service';
import { isWireObject } from './wire';

/** One way to spell a value inside a query string. */
type Spelling = (value: string) => string;

const percent: Spelling = encodeURIComponent;
const plus: Spelling = (value) => percent(value).replaceAll('%20', '+');
const lowerCase: Spelling = (value) => percent(value).replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase());
const everything: Spelling = (value) =>
  [...Buffer.from(value)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
const sparing: Spelling = (value) => percent(value).replace(/%(3A|2F|3F|40|2C|3B|24)/g, decodeURIComponent);

const AWKWARD = "a b&c=d+e%20#f/g?h:i@j,k;l$m'n(o)*~!№ Ж 🧾";

function query(service: Service, spelled: string): string {
  return `channel=${service.channel}&external_id=${spelled}`;
}

async function paymentNamed(service: Service, externalId: string): Promise<string> {
  const body = { ...paymentRequest(service, 'card'), external_id: externalId };
  return (await created(service, 'payment', body)).transaction_id;
}

async function finds(service: Service, sent: string, id: string): Promise<void> {
  const found = (await service.query('payment', sent)).having(200).body();
  assert.equal(found.transaction_id, id, 'the look-up found another payment');
}

/** The query string is signed as it was sent, however it is spelled. */
const SPELLINGS: { id: string; level?: Level; says: string; spell: Spelling }[] = [
  { id: 'AUTH-050', says: 'with spaces as %20', spell: percent },
  { id: 'AUTH-051', level: 'SHOULD', says: 'with spaces as +', spell: plus },
  { id: 'AUTH-052', says: 'with lower-case escapes', spell: lowerCase },
  { id: 'AUTH-053', says: 'with every byte escaped', spell: everything },
  { id: 'AUTH-054', says: 'with no more escapes than a query needs', spell: sparing },
];

const spellings = SPELLINGS.map(({ id, level = 'MUST', says, spell }): Obligation => ({
  id,
  level,
  says: `find a payment by an external id sent and signed ${says}`,
  spec: '5',
  run: async (service) => {
    const externalId = `${randomUUID()} ${AWKWARD}`;
    const payment = await paymentNamed(service, externalId);
    await finds(service, query(service, spell(externalId)), payment);
  },
}));

/** What a careless signer would sign instead of the query string that it sends. */
const OTHER_QUERIES: { id: string; says: string; of(sent: string): string }[] = [
  { id: 'AUTH-060', says: 'with spaces as + where %20 was sent', of: (sent) => sent.replaceAll('%20', '+') },
  { id: 'AUTH-061', says: 'decoded', of: (sent) => decodeURIComponent(sent) },
  { id: 'AUTH-062', says: 'with its leading ?', of: (sent) => `?${sent}` },
  {
    id: 'AUTH-063',
    says: 'with its parameters in another order',
    of: (sent) => sent.split('&').reverse().join('&'),
  },
  { id: 'AUTH-064', says: 'with lower-case escapes where upper-case ones were sent', of: lowerCased },
  { id: 'AUTH-065', says: 'with the path before it', of: (sent) => `/api/v1/payment/?${sent}` },
  { id: 'AUTH-066', says: 'as a JSON object of its parameters', of: asJson },
];

function lowerCased(sent: string): string {
  return sent.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase());
}

function asJson(sent: string): string {
  return JSON.stringify(Object.fromEntries(new URLSearchParams(sent)));
}

const otherQueries = OTHER_QUERIES.map(({ id, says, of }): Obligation => ({
  id,
  level: 'MUST',
  says: `answer 401 to a query string that was signed ${says}`,
  spec: '5',
  run: async (service) => {
    const externalId = `${randomUUID()} Ж+1`;
    await paymentNamed(service, externalId);
    const sent = query(service, percent(externalId));
    const signing: Signing = { data: of(sent) };
    assert.notEqual(signing.data, sent);
    for (const resource of ['payment', 'payout'] satisfies Resource[]) {
      (await service.query(resource, sent, signing)).having(401);
    }
  },
}));

/** The same JSON value in other bytes: what is sent is what is signed. */
const BODIES: { id: string; says: string; write(value: object): string }[] = [
  {
    id: 'AUTH-070',
    says: 'indented with tabs and line ends',
    write: (value) => JSON.stringify(value, null, '\t'),
  },
  { id: 'AUTH-071', says: 'with CRLF line ends and a final one', write: windows },
  { id: 'AUTH-072', says: 'with its keys in reverse order', write: reversed },
  { id: 'AUTH-073', says: 'with unicode escapes', write: escaped },
  { id: 'AUTH-074', says: 'with raw UTF-8', write: (value) => JSON.stringify(value) },
  {
    id: 'AUTH-075',
    says: 'with escaped slashes',
    write: (value) => JSON.stringify(value).replaceAll('/', '\\/'),
  },
];

function windows(value: object): string {
  return `${JSON.stringify(value, null, 2).replaceAll('\n', '\r\n')}\r\n`;
}

function reversed(value: object): string {
  const turn = (part: unknown): unknown =>
    isWireObject(part)
      ? Object.fromEntries(
          Object.entries(part)
            .reverse()
            .map(([name, inner]) => [name, turn(inner)]),
        )
      : part;
  return JSON.stringify(turn(value));
}

function escaped(value: object): string {
  const unit = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[^ -~]/g, unit);
}

const bodies = BODIES.map(({ id, says, write }): Obligation => ({
  id,
  level: 'MUST',
  says: `accept a body ${says} and refuse it when signed in another spelling`,
  spec: '5',
  run: async (service) => {
    const externalId = `${randomUUID()} заказ №5/2 🧾`;
    const body = { ...paymentRequest(service, 'card'), external_id: externalId };
    const raw = write(body);
    const other = raw === JSON.stringify(body) ? escaped(body) : JSON.stringify(body);
    (await service.call(ENDPOINTS.createPayment, raw, { data: other })).having(401);
    const answer = (await service.call(ENDPOINTS.createPayment, raw)).having(201).body();
    await finds(service, query(service, percent(externalId)), String(answer.transaction_id));
  },
}));

export const signedBytesObligations: Obligation[] = [
  ...spellings,
  ...otherQueries,
  ...bodies,
  {
    id: 'AUTH-080',
    level: 'MUST',
    says: 'verify a query string with spaces as +, whatever it takes + to mean',
    spec: '5',
    run: async (service) => {
      const externalId = `${randomUUID()} two words`;
      await paymentNamed(service, externalId);
      const answer = await service.query('payment', query(service, plus(externalId)));
      assert.notEqual(answer.status, 401, 'the signature was made over other bytes than were sent');
    },
  },
  {
    id: 'AUTH-081',
    level: 'MUST',
    says: 'verify the parameters of a look-up in any order',
    spec: '5',
    run: async (service) => {
      const externalId = `order ${randomUUID()}`;
      const payment = await paymentNamed(service, externalId);
      await finds(service, `external_id=${percent(externalId)}&channel=${service.channel}`, payment);
    },
  },
  {
    id: 'AUTH-082',
    level: 'SHOULD',
    says: 'accept a content type with a charset',
    spec: '5 rule 3',
    run: async (service) => {
      const body = JSON.stringify(without(paymentRequest(service, 'card'), 'external_id'));
      const request = service.signed(ENDPOINTS.createPayment, body);
      request.headers['Content-Type'] = 'application/json; charset=utf-8';
      (await service.send(request)).having(201);
    },
  },
];
