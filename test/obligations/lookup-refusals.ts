import { randomUUID } from 'node:crypto';
import type { Level, Obligation } from './obligation';
import { created, named, paymentRequest, payoutRequest } from './samples';
import { queryString, type Resource } from './service';

interface BadQuery {
  id: string;
  level?: Level;
  says: string;
  /** Given the ids of an existing transaction. */
  query(ids: Record<'channel' | 'transaction_id' | 'external_id', string>): Record<string, string> | string;
}

const BAD_QUERIES: BadQuery[] = [
  { id: 'LOOK-030', says: 'without channel', query: ({ transaction_id }) => ({ transaction_id }) },
  {
    id: 'LOOK-031',
    says: 'without channel but with external_id',
    query: ({ external_id }) => ({ external_id }),
  },
  {
    id: 'LOOK-032',
    says: 'with neither transaction_id nor external_id',
    query: ({ channel }) => ({ channel }),
  },
  { id: 'LOOK-033', says: 'without any parameter', query: () => '' },
  {
    id: 'LOOK-034',
    says: 'whose channel is not a UUID',
    query: ({ transaction_id }) => ({ channel: 'shop', transaction_id }),
  },
  {
    id: 'LOOK-035',
    says: 'whose transaction_id is not a UUID',
    query: ({ channel }) => ({ channel, transaction_id: '17' }),
  },
  {
    id: 'LOOK-036',
    level: 'SHOULD',
    says: 'whose only id is empty',
    query: ({ channel }) => ({ channel, external_id: '' }),
  },
];

const badQueries = BAD_QUERIES.map(({ id, level = 'MUST', says, query }): Obligation => ({
  id,
  level,
  says: `answer 400 to a look-up ${says}`,
  spec: '4.1, 4.3, 7.1',
  run: async (service) => {
    for (const resource of ['payment', 'payout'] satisfies Resource[]) {
      const externalId = `order-${randomUUID()}`;
      const { transaction_id } = await created(service, resource, named(service, resource, externalId));
      const sent = query({ channel: service.channel, transaction_id, external_id: externalId });
      const answer = await service.query(resource, typeof sent === 'string' ? sent : queryString(sent));
      answer.having(400);
    }
  },
}));

export const lookupRefusalObligations: Obligation[] = [
  ...badQueries,
  {
    id: 'LOOK-052',
    level: 'SHOULD',
    says: 'refuse the look-up of an unknown transaction',
    spec: '4.1, 4.3',
    run: async (service) => {
      for (const resource of ['payment', 'payout'] satisfies Resource[]) {
        (await service.lookUp(resource, { transaction_id: randomUUID() })).refused();
        (await service.lookUp(resource, { external_id: `none-${randomUUID()}` })).refused();
      }
    },
  },
  {
    id: 'LOOK-053',
    level: 'SHOULD',
    says: 'not show a transaction on another channel',
    spec: '1, 4.1, 4.3',
    run: async (service) => {
      for (const resource of ['payment', 'payout'] satisfies Resource[]) {
        const { transaction_id } = await created(
          service,
          resource,
          named(service, resource, `order-${randomUUID()}`),
        );
        (await service.lookUp(resource, { channel: randomUUID(), transaction_id })).refused();
      }
    },
  },
  {
    id: 'LOOK-054',
    level: 'SHOULD',
    says: 'not find a payment as a payout or a payout as a payment',
    spec: '4.1, 4.3',
    run: async (service) => {
      const payment = await created(service, 'payment', paymentRequest(service, 'card'));
      const payout = await created(service, 'payout', payoutRequest(service, 'jazz_cash'));
      (await service.lookUp('payout', { transaction_id: payment.transaction_id })).refused();
      (await service.lookUp('payment', { transaction_id: payout.transaction_id })).refused();
    },
  },
];
