import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { created, paymentRequest, payoutRequest } from './samples';
import { each, ENDPOINTS, queryString, RESOURCES, signature } from './service';
import type { Endpoint, Obligations, Run, Service, Signing, WireRequest } from './service';

/** Returns valid data for each endpoint, to which the endpoint does not respond with 401. */
function goodData(service: Service): Record<keyof typeof ENDPOINTS, string> {
  const lookUp = queryString({ channel: service.channel, transaction_id: randomUUID() });
  return {
    lookUpPayment: lookUp,
    createPayment: JSON.stringify(paymentRequest(service, 'card')),
    confirmPayment: JSON.stringify({ id: randomUUID(), utr: '412345678901' }),
    lookUpPayout: lookUp,
    createPayout: JSON.stringify(payoutRequest(service, 'jazz_cash')),
  };
}

/** Expects no 401. A service that rejects everything would meet all other authentication requirements. */
const accepts =
  (name: keyof typeof ENDPOINTS): Run =>
  async (service) => {
    const { requestLine, status } = await service.call(ENDPOINTS[name], goodData(service)[name]);
    assert(status !== 401 && status < 500, `${requestLine} responded with ${status}`);
  };

/** Expects 401 on every endpoint. */
const refuses =
  (write: (service: Service, endpoint: Endpoint, data: string) => WireRequest): Run =>
  async (service) => {
    for (const [name, data] of Object.entries(goodData(service)))
      (await service.send(write(service, ENDPOINTS[name as keyof typeof ENDPOINTS], data))).having(401);
  };

const refusesSigned = (signing: (service: Service, data: string) => Partial<Signing>): Run =>
  refuses((service, endpoint, data) => service.signed(endpoint, data, signing(service, data)));

/** Expects 401 if a header is changed after signing, or removed if `change` returns undefined. `value` is valid. */
const refusesHeader = (
  header: string,
  change: (request: Signing & { value: string }) => string | undefined,
): Run =>
  refuses((service, endpoint, data) => {
    const request = service.signed(endpoint, data);
    const { [header]: value = '', ...headers } = request.headers;
    const { secretKey } = service.access;
    const changed = change({ value, data, secretKey, timestamp: request.headers['X-Timestamp'] ?? '' });
    return { ...request, headers: changed === undefined ? headers : { ...headers, [header]: changed } };
  });

const empty = () => '';
const otherDigit = (digit = ''): string => (digit === '0' ? '1' : '0');

export const createsAt =
  (offsetSeconds: number, status: 201 | 401): Run =>
  async (service) => {
    const body = JSON.stringify(paymentRequest(service, 'card'));
    const timestamp = service.timestamp(offsetSeconds);
    (await service.call(ENDPOINTS.createPayment, body, { timestamp })).having(status);
  };

const wrongSecret = ({ access }: Service) => ({ secretKey: `${access.secretKey}x` });

/** Requirements of spec section 5 for the headers. */
export const authObligations: Obligations = {
  ...each({ lookUpPayment: 'AUTH-001', createPayment: 'AUTH-002', confirmPayment: 'AUTH-003' }, accepts),
  ...each({ lookUpPayout: 'AUTH-004', createPayout: 'AUTH-005' }, accepts),
  ...each({ 'X-API-Key': 'AUTH-010', 'X-Timestamp': 'AUTH-011', 'X-Signature': 'AUTH-012' }, (header) =>
    refusesHeader(header, () => undefined),
  ),
  'AUTH-013': refusesHeader('X-API-Key', ({ value }) => `${value}x`),
  'AUTH-014': refusesHeader('X-API-Key', empty),
  'AUTH-015': refusesHeader('X-Signature', empty),
  'AUTH-016': refusesHeader('X-Signature', ({ value }) => otherDigit(value[0]) + value.slice(1)),
  'AUTH-017': refusesHeader('X-Signature', ({ value }) => value.slice(0, -1) + otherDigit(value.at(-1))),
  'AUTH-018': refusesHeader('X-Signature', ({ value }) => value.slice(0, 32)),
  'AUTH-019': refusesHeader('X-Signature', ({ value }) => `${value}00`),
  'AUTH-020': refusesHeader('X-Signature', ({ value }) => Buffer.from(value, 'hex').toString('base64')),
  'AUTH-021': refusesSigned(wrongSecret),
  'AUTH-022': refusesSigned(({ access }) => ({ secretKey: access.apiKey })),
  'AUTH-023': refusesSigned((_, data) => ({ data: `${data} ` })),
  'AUTH-024': refusesHeader('X-Signature', (request) => signature({ ...request, timestamp: '' })),
  'AUTH-025': refusesSigned(() => ({ data: '' })),
  'AUTH-026': refusesSigned((_, data) => ({ data: `.${data}` })),
  'AUTH-027': refusesHeader('X-Signature', ({ secretKey, timestamp, data }) =>
    signature({ secretKey, timestamp: data, data: timestamp }),
  ),
  'AUTH-028': refusesHeader('X-Timestamp', ({ value }) => String(Number(value) - 1)),
  'AUTH-029': refusesSigned(() => ({ timestamp: '' })),
  'AUTH-030': refusesSigned(() => ({ timestamp: 'now' })),
  'AUTH-031': refusesSigned((service) => ({ timestamp: new Date(service.now()).toISOString() })),
  'AUTH-032': refusesSigned((service) => ({ timestamp: service.timestamp(-330) })),
  'AUTH-033': refusesSigned((service) => ({ timestamp: service.timestamp(-86_400) })),
  'AUTH-040': createsAt(-240, 201),
  'AUTH-041': createsAt(10, 201),
  'AUTH-042': async (service) => {
    (await service.call(ENDPOINTS.lookUpPayment, 'channel=1', wrongSecret(service))).having(401);
    (await service.call(ENDPOINTS.createPayment, '{"channel":1', wrongSecret(service))).having(401);
  },
  'AUTH-043': async (service) => {
    const body = paymentRequest(service, 'card');
    const sent = JSON.stringify(body);
    (await service.call(ENDPOINTS.createPayment, sent, wrongSecret(service))).having(401);
    (await service.lookUp('payment', { external_id: String(body.external_id) })).refused();
  },
};

const AWKWARD = "a b&c=d+e%20#f/g?h:i@j,k;l$m'n(o)*~!№ Ж 🧾";

const plus = (value: string): string => encodeURIComponent(value).replaceAll('%20', '+');
const lowerCase = (escaped: string): string => escaped.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase());
const named = (service: Service, spelled: string): string =>
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
    await finds(service, named(service, spell(externalId)), payment);
  };

/** Expects 401 for the signature of a query string that was re-encoded. */
const refusesReencoded =
  (careless: (sent: string) => string): Run =>
  async (service) => {
    const externalId = `${randomUUID()} Ж+1`;
    await paymentNamed(service, externalId);
    const sent = named(service, encodeURIComponent(externalId));
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
    await finds(service, named(service, encodeURIComponent(externalId)), String(response.transaction_id));
  };

const escaped = (value: object): string =>
  JSON.stringify(value).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Requirements of spec section 5 for the signed bytes. */
export const signedBytesObligations: Obligations = {
  'AUTH-050': findsSpelled(encodeURIComponent),
  'AUTH-051': findsSpelled(plus),
  'AUTH-052': findsSpelled((value) => lowerCase(encodeURIComponent(value))),
  'AUTH-053': findsSpelled((value) => Buffer.from(value).toString('hex').toUpperCase().replace(/../g, '%$&')),
  'AUTH-054': findsSpelled((value) =>
    encodeURIComponent(value).replace(/%(3A|2F|3F|40|2C|3B|24)/g, decodeURIComponent),
  ),
  'AUTH-060': refusesReencoded((sent) => sent.replaceAll('%20', '+')),
  'AUTH-061': refusesReencoded(decodeURIComponent),
  'AUTH-062': refusesReencoded((sent) => `?${sent}`),
  'AUTH-063': refusesReencoded((sent) => sent.split('&').reverse().join('&')),
  'AUTH-064': refusesReencoded(lowerCase),
  'AUTH-065': refusesReencoded((sent) => `/api/v1/payment/?${sent}`),
  'AUTH-066': refusesReencoded((sent) => JSON.stringify(Object.fromEntries(new URLSearchParams(sent)))),
  'AUTH-070': acceptsBody((value) => JSON.stringify(value, null, '\t')),
  'AUTH-071': acceptsBody((value) => `${JSON.stringify(value, null, 2).replaceAll('\n', '\r\n')}\r\n`),
  'AUTH-072': acceptsBody((value) => JSON.stringify(Object.fromEntries(Object.entries(value).reverse()))),
  'AUTH-073': acceptsBody(escaped),
  'AUTH-074': acceptsBody((value) => JSON.stringify(value)),
  'AUTH-075': acceptsBody((value) => JSON.stringify(value).replaceAll('/', '\\/')),
  'AUTH-080': async (service) => {
    const externalId = `${randomUUID()} two words`;
    await paymentNamed(service, externalId);
    const response = await service.query('payment', named(service, plus(externalId)));
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
