import type { Service, Signing } from './service';
import { signature } from './signature';
import type { WireRequest } from './wire';

/** What is wrong with a request: how it is signed, or what befalls it after signing. */
export interface Fault {
  id: string;
  says: string;
  spec?: string;
  sign?(service: Service, data: string): Signing;
  spoil?(request: WireRequest, service: Service, data: string): void;
}

function drop(header: string): Fault['spoil'] {
  return ({ headers }) => {
    delete headers[header];
  };
}

/** Replaces a header by something that depends on its good value. */
function change(header: string, other: (good: string) => string): Fault['spoil'] {
  return ({ headers }) => {
    headers[header] = other(headers[header] ?? '');
  };
}

function otherDigit(hex: string, at: number): string {
  const index = at < 0 ? hex.length + at : at;
  return hex.slice(0, index) + (hex[index] === '0' ? '1' : '0') + hex.slice(index + 1);
}

/** Sends the signature of another timestamp string or another separator between timestamp and data. */
function signedOver(input: (timestamp: string, data: string) => string): Fault['spoil'] {
  return ({ headers }, service, data) => {
    const whole = input(headers['X-Timestamp'] ?? '', data);
    const { secretKey } = service.access;
    headers['X-Signature'] = signature({ secretKey, timestamp: '', data: whole });
  };
}

/** All that makes a request fail its authentication (spec section 5). */
export const FAULTS: Fault[] = [
  { id: 'AUTH-010', says: 'a request without X-API-Key', spoil: drop('X-API-Key') },
  { id: 'AUTH-011', says: 'a request without X-Timestamp', spoil: drop('X-Timestamp') },
  { id: 'AUTH-012', says: 'a request without X-Signature', spoil: drop('X-Signature') },
  { id: 'AUTH-013', says: 'an unknown X-API-Key', spoil: change('X-API-Key', (key) => `${key}x`) },
  { id: 'AUTH-014', says: 'an empty X-API-Key', spoil: change('X-API-Key', () => '') },
  { id: 'AUTH-015', says: 'an empty X-Signature', spoil: change('X-Signature', () => '') },
  {
    id: 'AUTH-016',
    says: 'a signature whose first digit is wrong',
    spoil: change('X-Signature', (hex) => otherDigit(hex, 0)),
  },
  {
    id: 'AUTH-017',
    says: 'a signature whose last digit is wrong',
    spoil: change('X-Signature', (hex) => otherDigit(hex, -1)),
  },
  {
    id: 'AUTH-018',
    says: 'a signature cut to its first half',
    spoil: change('X-Signature', (hex) => hex.slice(0, 32)),
  },
  {
    id: 'AUTH-019',
    says: 'a signature with digits too many',
    spoil: change('X-Signature', (hex) => `${hex}00`),
  },
  {
    id: 'AUTH-020',
    says: 'a signature in base64 instead of hexadecimal',
    spoil: change('X-Signature', (hex) => Buffer.from(hex, 'hex').toString('base64')),
  },
  {
    id: 'AUTH-021',
    says: 'a signature keyed with another secret',
    sign: ({ access }) => ({ secretKey: `${access.secretKey}x` }),
  },
  {
    id: 'AUTH-022',
    says: 'a signature keyed with the API key',
    sign: ({ access }) => ({ secretKey: access.apiKey }),
  },
  { id: 'AUTH-023', says: 'a signature over other data', sign: (_, data) => ({ data: `${data} ` }) },
  {
    id: 'AUTH-024',
    says: 'a signature over the data without the timestamp',
    spoil: signedOver((_, data) => data),
  },
  { id: 'AUTH-025', says: 'a signature over the timestamp without the data', sign: () => ({ data: '' }) },
  {
    id: 'AUTH-026',
    says: 'a signature with a separator after the timestamp',
    spoil: signedOver((timestamp, data) => `${timestamp}.${data}`),
  },
  {
    id: 'AUTH-027',
    says: 'a signature with the timestamp after the data',
    spoil: signedOver((timestamp, data) => `${data}${timestamp}`),
  },
  {
    id: 'AUTH-028',
    says: 'a timestamp changed after signing',
    spoil: change('X-Timestamp', (seconds) => String(Number(seconds) - 1)),
  },
  { id: 'AUTH-029', says: 'a timestamp that is empty', sign: () => ({ timestamp: '' }) },
  { id: 'AUTH-030', says: 'a timestamp that is a word', sign: () => ({ timestamp: 'now' }) },
  {
    id: 'AUTH-031',
    says: 'a timestamp that is an ISO date',
    sign: (service) => ({ timestamp: new Date(service.now()).toISOString() }),
  },
  {
    id: 'AUTH-032',
    says: 'a timestamp older than 5 minutes',
    spec: '5 rule 1',
    sign: (service) => ({ timestamp: service.timestamp(-330) }),
  },
  {
    id: 'AUTH-033',
    says: 'a timestamp of a day ago',
    spec: '5 rule 1',
    sign: (service) => ({ timestamp: service.timestamp(-86_400) }),
  },
];
