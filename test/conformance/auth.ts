import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { paymentRequest, payoutRequest } from './samples';
import { each, ENDPOINTS, queryString, signature } from './service';
import type { Obligations, Run, Service, Signing } from './service';

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

const refusesSigned =
  (signing: (service: Service, data: string) => Partial<Signing>): Run =>
  async (service) => {
    for (const [name, data] of Object.entries(goodData(service))) {
      const endpoint = ENDPOINTS[name as keyof typeof ENDPOINTS];
      (await service.call(endpoint, data, signing(service, data))).having(401);
    }
  };

interface SignedRequest extends Signing {
  /** The valid value of the header. */
  value: string;
}

/** Expects 401 on every endpoint if a header is changed after signing, or removed if `change` returns undefined. */
const refusesHeader =
  (header: string, change: (request: SignedRequest) => string | undefined): Run =>
  async (service) => {
    for (const [name, data] of Object.entries(goodData(service))) {
      const request = service.signed(ENDPOINTS[name as keyof typeof ENDPOINTS], data);
      const { [header]: value = '', ...others } = request.headers;
      const { secretKey } = service.access;
      const changed = change({ value, data, secretKey, timestamp: request.headers['X-Timestamp'] ?? '' });
      const headers = changed === undefined ? others : { ...others, [header]: changed };
      (await service.send({ ...request, headers })).having(401);
    }
  };

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

/** Requirements of spec section 5. */
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
