import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { FAULTS, type Fault } from './auth-faults';
import type { Obligation } from './obligation';
import { paymentRequest, payoutRequest } from './samples';
import { ENDPOINTS, queryString, type Endpoint, type Service } from './service';

/** Data with which each endpoint would accept, or at least understand, the request. */
function everyRequest(service: Service): { endpoint: Endpoint; data: string }[] {
  const lookUp = queryString({ channel: service.channel, transaction_id: randomUUID() });
  const body = (value: object) => JSON.stringify(value);
  return [
    { endpoint: ENDPOINTS.lookUpPayment, data: lookUp },
    { endpoint: ENDPOINTS.createPayment, data: body(paymentRequest(service, 'card')) },
    { endpoint: ENDPOINTS.confirmPayment, data: body({ id: randomUUID(), utr: '412345678901' }) },
    { endpoint: ENDPOINTS.lookUpPayout, data: lookUp },
    { endpoint: ENDPOINTS.createPayout, data: body(payoutRequest(service, 'jazz_cash')) },
  ];
}

function refusing({ id, says, spec = '5 rule 2', sign, spoil }: Fault): Obligation {
  return {
    id,
    level: 'MUST',
    says: `answer 401 on every endpoint to ${says}`,
    spec,
    run: async (service) => {
      for (const { endpoint, data } of everyRequest(service)) {
        const request = service.signed(endpoint, data, sign?.(service, data));
        spoil?.(request, service, data);
        (await service.send(request)).having(401);
      }
    },
  };
}

/** Without these a service that lets nobody in would meet all the others. */
const LET_IN: { id: string; says: string; endpoint: Endpoint }[] = [
  { id: 'AUTH-001', says: 'payment look-up', endpoint: ENDPOINTS.lookUpPayment },
  { id: 'AUTH-002', says: 'payment creation', endpoint: ENDPOINTS.createPayment },
  { id: 'AUTH-003', says: 'payment confirmation', endpoint: ENDPOINTS.confirmPayment },
  { id: 'AUTH-004', says: 'payout look-up', endpoint: ENDPOINTS.lookUpPayout },
  { id: 'AUTH-005', says: 'payout creation', endpoint: ENDPOINTS.createPayout },
];

const lettingIn = LET_IN.map(({ id, says, endpoint }): Obligation => ({
  id,
  level: 'MUST',
  says: `not answer 401 to a well-signed ${says}`,
  spec: '5',
  run: async (service) => {
    const found = everyRequest(service).find((request) => request.endpoint === endpoint);
    assert(found);
    const answer = await service.call(endpoint, found.data);
    assert(answer.status !== 401 && answer.status < 500, `${answer.asked} answered ${answer.status}`);
  },
}));

export const authObligations: Obligation[] = [
  ...lettingIn,
  ...FAULTS.map(refusing),
  {
    id: 'AUTH-040',
    level: 'MUST',
    says: 'accept a timestamp of 4 minutes ago',
    spec: '5 rule 1',
    run: async (service) => {
      const timestamp = service.timestamp(-240);
      const body = JSON.stringify(paymentRequest(service, 'card'));
      (await service.call(ENDPOINTS.createPayment, body, { timestamp })).having(201);
    },
  },
  {
    id: 'AUTH-041',
    level: 'SHOULD',
    says: 'accept a timestamp a few seconds ahead of its clock',
    spec: '5 rule 1',
    run: async (service) => {
      const timestamp = service.timestamp(10);
      const body = JSON.stringify(paymentRequest(service, 'card'));
      (await service.call(ENDPOINTS.createPayment, body, { timestamp })).having(201);
    },
  },
  {
    id: 'AUTH-042',
    level: 'SHOULD',
    says: 'judge the signature before the parameters',
    spec: '5',
    run: async (service) => {
      const secretKey = `${service.access.secretKey}x`;
      (await service.call(ENDPOINTS.lookUpPayment, 'channel=1', { secretKey })).having(401);
      (await service.call(ENDPOINTS.createPayment, '{"channel":1', { secretKey })).having(401);
    },
  },
  {
    id: 'AUTH-043',
    level: 'MUST',
    says: 'not create a payment that failed authentication',
    spec: '5 rule 2',
    run: async (service) => {
      const body = paymentRequest(service, 'card');
      const secretKey = `${service.access.secretKey}x`;
      (await service.call(ENDPOINTS.createPayment, JSON.stringify(body), { secretKey })).having(401);
      (await service.lookUp('payment', { external_id: String(body.external_id) })).refused();
    },
  },
];
