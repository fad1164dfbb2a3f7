import assert from 'node:assert/strict';
import { PAYOUT_STATUSES, statusIn } from './expectations';
import { CALLBACK_URL, changed, created, payoutRequest, type PayoutType } from './samples';
import { each, type Obligations, type Run } from './service';

/** Expects 400 for an otherwise valid create with `value` at `path`; undefined removes the field. */
const refuses =
  (path: string, value?: unknown, type: PayoutType = 'bank_transfer'): Run =>
  async (service) =>
    void (await service.create('payout', changed(payoutRequest(service, type), path, value))).having(400);

const requires = (type: PayoutType, ids: Record<string, string>): Obligations =>
  each(ids, (field) => refuses(`payout_method.${field}`, undefined, type));

/** Expects status, transaction_id, and the external_id of the request or null (spec 4.2). */
const accepts =
  (type: PayoutType): Run =>
  async (service) => {
    const request = payoutRequest(service, type);
    const payout = await created(service, 'payout', request);
    statusIn(payout, PAYOUT_STATUSES);
    assert([null, request.external_id].includes(payout.external_id), String(payout.external_id));
  };

/** Requirements of spec 2.6 to 2.8 and 4.2. */
export const payoutObligations: Obligations = {
  'OUT-010': refuses('channel'),
  'OUT-011': refuses('amount'),
  'OUT-012': refuses('amount.currency'),
  'OUT-013': refuses('amount.value'),
  'OUT-014': refuses('external_id'),
  'OUT-015': refuses('payout_method'),
  'OUT-016': refuses('payout_method.type'),
  'OUT-017': refuses('channel', 'shop'),
  'OUT-018': refuses('amount.value', 25),
  'OUT-019': refuses('amount.value', '25'),
  'OUT-020': refuses('amount.currency', 'rupees'),
  'OUT-021': refuses('external_id', null),
  'OUT-022': refuses('payout_method.account_number', null),
  ...each(
    { bank_transfer: 'OUT-100', imps: 'OUT-101', easy_paisa: 'OUT-102', jazz_cash: 'OUT-103' },
    accepts,
  ),
  ...each({ dcb: 'OUT-104', bkash: 'OUT-105', nagad: 'OUT-106', rocket: 'OUT-107' }, accepts),
  ...each({ card: 'OUT-108', scheme: 'OUT-109' }, accepts),
  'OUT-110': async (service) => {
    const optional = { iban: 'DE89370400440532013000', branch_code: '100' };
    const contact = { phone: '+4915112345678', email: 'jane@example.com' };
    const { payout_method, ...request } = payoutRequest(service, 'bank_transfer');
    const method = { ...Object(payout_method), ...optional, ...contact };
    await created(service, 'payout', { ...request, payout_method: method });
  },
  'OUT-111': async (service) => {
    const request = payoutRequest(service, 'easy_paisa');
    await created(service, 'payout', { ...request, description: 'Prize №7', callback_url: CALLBACK_URL });
  },
  ...requires('bank_transfer', { bank_code: 'OUT-120', bank_name: 'OUT-121', account_number: 'OUT-122' }),
  ...requires('bank_transfer', { first_name: 'OUT-123', last_name: 'OUT-124' }),
  ...requires('imps', { bank_code: 'OUT-125', first_name: 'OUT-126', last_name: 'OUT-127' }),
  ...requires('imps', { phone: 'OUT-128', email: 'OUT-129', account_number: 'OUT-130' }),
  ...requires('easy_paisa', { account_number: 'OUT-131' }),
  ...requires('jazz_cash', { account_number: 'OUT-132' }),
  ...requires('dcb', { phone: 'OUT-133', first_name: 'OUT-134', last_name: 'OUT-135' }),
  ...requires('bkash', { account_number: 'OUT-136' }),
  ...requires('nagad', { account_number: 'OUT-137' }),
  ...requires('rocket', { account_number: 'OUT-138' }),
  ...requires('card', { pan: 'OUT-139' }),
};
