import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { created, paymentRequest } from './samples';
import { ENDPOINTS, RESOURCES, type Obligations, type Run, type Service } from './service';
import { isWireObject } from './wire';

const AWKWARD = "a b&c=d+e%20#f/g?h:i@j,k;l$m'n(o)*~!№ Ж 🧾";

const plus = (value: string): string => encodeURIComponent(value).replaceAll('%20', '+');
const lowerCase = (escaped: string): string => escaped.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase());
const everyByte = (value: string): string =>
  [...Buffer.from(value)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
const sparing = (value: string): string =>
  encodeURIComponent(value).replace(/%(3A|2F|3F|40|2C|3B|24)/g, decodeURIComponent);

const query = (service: Service, spelled: string): string =>
  `channel=${service.channel}&external_id=${spelled}`;

async function paymentNamed(service: Service, externalId: string): Promise<string> {
  const body = { ...paymentRequest(service, 'card'), external_id: externalId };
  return (await created(service, 'payment', body)).transaction_id;
}

async function finds(service: Service, sent: string, id: string): Promise<void> {
  const found = (await service.query('payment', sent)).having(200).body();
  assert.equal(found.transaction_id, id, 'the look-up found another payment');
}

/** Expects that the signature covers the query string as it was sent, whatever its encoding. */
const findsSpelled =
  (spell: (value: string) => string): Run =>
  async (service) => {
    const externalId = `${randomUUID()} ${AWKWARD}`;
    const payment = await paymentNamed(service, externalId);
    await finds(service, query(service, spell(externalId)), payment);
  };

/** Expects 401 for the signature of a query string that was re-encoded. */
const refusesSigned =
  (careless: (sent: string) => string): Run =>
  async (service) => {
    const externalId = `${randomUUID()} Ж+1`;
    await paymentNamed(service, externalId);
    const sent = query(service, encodeURIComponent(externalId));
    const data = careless(sent);
    assert.notEqual(data, sent);
    for (const resource of RESOURCES) (await service.query(resource, sent, { data })).having(401);
  };

/** Expects that the signature covers the bytes of a body, not its JSON value. */
const acceptsBody =
  (write: (value: object) => string): Run =>
  async (service) => {
    const externalId = `${randomUUID()} заказ №5/2 🧾`;
    const body = { ...paymentRequest(service, 'card'), external_id: externalId };
    const raw = write(body);
    const other = raw === JSON.stringify(body) ? escaped(body) : JSON.stringify(body);
    (await service.call(ENDPOINTS.createPayment, raw, { data: other })).having(401);
    const response = (await service.call(ENDPOINTS.createPayment, raw)).having(201).body();
    await finds(service, query(service, encodeURIComponent(externalId)), String(response.transaction_id));
  };

function reversed(part: unknown): unknown {
  if (!isWireObject(part)) return part;
  const entries = Object.entries(part).reverse();
  return Object.fromEntries(entries.map(([name, inner]) => [name, reversed(inner)]));
}

const escaped = (value: object): string =>
  JSON.stringify(value).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Requirements of spec section 5. */
export const signedBytesObligations: Obligations = {
  'AUTH-050': findsSpelled(encodeURIComponent),
  'AUTH-051': findsSpelled(plus),
  'AUTH-052': findsSpelled((value) => lowerCase(encodeURIComponent(value))),
  'AUTH-053': findsSpelled(everyByte),
  'AUTH-054': findsSpelled(sparing),
  'AUTH-060': refusesSigned((sent) => sent.replaceAll('%20', '+')),
  'AUTH-061': refusesSigned(decodeURIComponent),
  'AUTH-062': refusesSigned((sent) => `?${sent}`),
  'AUTH-063': refusesSigned((sent) => sent.split('&').reverse().join('&')),
  'AUTH-064': refusesSigned(lowerCase),
  'AUTH-065': refusesSigned((sent) => `/api/v1/payment/?${sent}`),
  'AUTH-066': refusesSigned((sent) => JSON.stringify(Object.fromEntries(new URLSearchParams(sent)))),
  'AUTH-070': acceptsBody((value) => JSON.stringify(value, null, '\t')),
  'AUTH-071': acceptsBody((value) => `${JSON.stringify(value, null, 2).replaceAll('\n', '\r\n')}\r\n`),
  'AUTH-072': acceptsBody((value) => JSON.stringify(reversed(value))),
  'AUTH-073': acceptsBody(escaped),
  'AUTH-074': acceptsBody((value) => JSON.stringify(value)),
  'AUTH-075': acceptsBody((value) => JSON.stringify(value).replaceAll('/', '\\/')),
  'AUTH-080': async (service) => {
    const externalId = `${randomUUID()} two words`;
    await paymentNamed(service, externalId);
    const response = await service.query('payment', query(service, plus(externalId)));
    assert.notEqual(response.status, 401, 'the signature was made over other bytes than were sent');
  },
  'AUTH-081': async (service) => {
    const externalId = `order ${randomUUID()}`;
    const payment = await paymentNamed(service, externalId);
    const spelled = encodeURIComponent(externalId);
    await finds(service, `external_id=${spelled}&channel=${service.channel}`, payment);
  },
  'AUTH-082': async (service) => {
    const body = JSON.stringify(paymentRequest(service, 'card'));
    const request = service.signed(ENDPOINTS.createPayment, body);
    request.headers['Content-Type'] = 'application/json; charset=utf-8';
    (await service.send(request)).having(201);
  },
};
