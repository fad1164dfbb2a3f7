import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Obligation } from './obligation';
import { created, named } from './samples';
import type { Resource } from './service';

/** External ids that only an exact signature and an exact decoding survive. */
const EXTERNAL_IDS: { id: string; says: string; text: string }[] = [
  { id: 'LOOK-010', says: 'spaces', text: 'order 5 of 7' },
  { id: 'LOOK-011', says: '& and =', text: 'a&b=c&channel=1' },
  { id: 'LOOK-012', says: '+', text: '1+1' },
  { id: 'LOOK-013', says: '%', text: '100%' },
  { id: 'LOOK-014', says: 'what looks like an escape', text: '%20%2B%26' },
  { id: 'LOOK-015', says: '# and ?', text: '#7?x' },
  { id: 'LOOK-016', says: 'Cyrillic letters', text: 'заказ №5' },
  { id: 'LOOK-017', says: 'an emoji', text: '🧾👩‍👩‍👧' },
  { id: 'LOOK-018', says: 'quotes and backslashes', text: '"\\"\'`' },
  { id: 'LOOK-019', says: 'slashes, semicolons and commas', text: '../a/b;c,d' },
  { id: 'LOOK-020', says: 'Arabic and Chinese letters', text: 'طلب 订单' },
  { id: 'LOOK-021', says: 'a decomposed accent', text: 'cafe\u0301' },
];

export const externalIdObligations: Obligation[] = EXTERNAL_IDS.map(({ id, says, text }): Obligation => ({
  id,
  level: 'MUST',
  says: `find payments and payouts by an external id with ${says}`,
  spec: '4.1, 4.3, 5',
  run: async (service) => {
    for (const resource of ['payment', 'payout'] satisfies Resource[]) {
      const externalId = `${randomUUID()} ${text}`;
      const { transaction_id: expected } = await created(
        service,
        resource,
        named(service, resource, externalId),
      );
      const found = (await service.lookUp(resource, { external_id: externalId })).having(200).body();
      assert.equal(found.transaction_id, expected);
    }
  },
}));
