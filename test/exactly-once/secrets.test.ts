import { createHash } from 'node:crypto';
import { API_KEY, SECRET_KEY } from '../support/gateway';
import { reset, status } from './service/faults';
import { describeStores, newKey } from './support/rig';

const PAN = '4929420573595709';
const CVC = '8417';
const UTR = '749302847561';
const ACCOUNT = '000987612345';

/** Every way in which a text may be written down without meaning to hide it. */
const spellings = (text: string): string[] => [
  text,
  text.replace(/(.{4})(?=.)/g, '$1 '),
  text.replace(/(.{4})(?=.)/g, '$1-'),
  Buffer.from(text).toString('base64').replace(/=+$/, ''),
  Buffer.from(text).toString('hex'),
  ...['md5', 'sha1', 'sha256', 'sha512'].flatMap((name) => [
    createHash(name).update(text).digest('hex'),
    createHash(name).update(text).digest('base64').replace(/=+$/, ''),
  ]),
];

describeStores('What the gateway writes down', (rigs) => {
  test('holds no card number, security code, account number, confirmation or credential', async () => {
    const logLines: string[] = [];
    const rig = await rigs.start({ logLines });
    const card = {
      amount: { currency: 'EUR', value: '10.00' },
      method: {
        card: { pan: PAN, cvc: CVC, expiryMonth: '12', expiryYear: '2099', cardholder: 'Ann Payer' },
      },
    };
    const paidCard = { amount: { currency: 'KZT', value: '10.00' }, method: { card: { pan: PAN } } };
    const replies = [undefined, reset, status(400), status(503), status(401)];
    const keys = replies.map(newKey);
    for (const [place, reply] of replies.entries()) {
      const key = keys[place]!;
      for (const acts of [true, false]) {
        if (reply) rig.service.next('create-payment', { acts, reply });
        if (reply) rig.service.next('create-payout', { acts, reply });
        await rig.create('payment', `${key} payment ${acts}`, card);
        await rig.create('payout', `${key} payout ${acts}`, paidCard);
      }
    }
    const imps = {
      bankCode: 'BANK01',
      accountNumber: ACCOUNT,
      firstName: 'Ann',
      lastName: 'Payee',
      phone: '+919876543210',
      email: 'ann@example.com',
    };
    await rig.create('payout', newKey(), { method: { imps } });
    const { transactionId } = await rig.create('payment', newKey());
    rig.service.next('confirm', { acts: false, reply: reset });
    for (const result of ['OutcomeUnknownError', 'PaymentSuccess'])
      expect(await rig.confirm(transactionId ?? '', { upi: { utr: UTR } })).toMatchObject({ result });
    const { transactionId: unknown } = await rig.create('payment', newKey());
    rig.service.next('confirm', { acts: false, reply: reset });
    await rig.confirm(unknown ?? '', { upi: { utr: UTR } });

    const written = `${(await rig.store.bytes()).toString('latin1')}${logLines.join('')}`;
    expect(written).toContain(`${keys[0]} payment true`);
    expect(written).toContain('BANK01');
    for (const secret of [PAN, ACCOUNT, API_KEY, SECRET_KEY, UTR]) {
      expect(spellings(secret).filter((spelling) => written.includes(spelling))).toEqual([]);
    }
    const rows = JSON.stringify(await rig.store.rows('SELECT * FROM attempts'));
    expect(rows).not.toMatch(new RegExp(`\\b${CVC}\\b`));
    expect(logLines.join('')).not.toMatch(new RegExp(`\\b${CVC}\\b`));
    // The last four may be shown.
    expect(rows).toContain(PAN.slice(-4));
  });
});
