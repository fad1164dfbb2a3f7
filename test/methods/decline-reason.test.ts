import { DeclineReason, readDeclineReason } from '../../src/schema/decline';

/** Providers' texts are an open set (spec 7.2): those the specification names are read, in any spelling. */
const texts: Record<DeclineReason, string[]> = {
  DO_NOT_HONOR: [
    'do-not-honor',
    'Do not honor',
    'DO_NOT_HONOR',
    'Do Not Honour',
    '05: Do not honor.',
    'Declined (do  not\thonor)',
  ],
  AUTHENTICATION_FAILED: [
    '3DS authentication error',
    '3ds_authentication_error',
    '3DS AUTHENTICATION ERROR',
    '3-DS authentication failed',
    '3-D Secure authentication failed',
    '3D Secure authentication failure',
    'Error: 3DS error (code 12)',
    'Authentication failed',
  ],
  INSUFFICIENT_FUNDS: [
    'insufficient funds',
    'INSUFFICIENT_FUNDS',
    'insufficient-funds',
    '51 - Insufficient Funds',
    'Not sufficient funds',
    'Not enough funds on the account',
    'Insufficient balance',
  ],
  CARD_EXPIRED: [
    'card expired',
    'CARD_EXPIRED',
    'Card has expired',
    'The card is expired.',
    'Expired card',
    '54/expired-card',
  ],
  SUSPECTED_FRAUD: [
    'suspected fraud',
    'SUSPECTED_FRAUD',
    'Suspected-Fraud (59)',
    'Fraud suspected',
    'Suspicion of fraud',
  ],
  NOT_PERMITTED: [
    'transaction not permitted',
    'TRANSACTION_NOT_PERMITTED',
    'Transaction not permitted to cardholder',
    '57: transaction is not permitted',
    'Transaction not allowed',
  ],
};

const readable = Object.entries(texts).flatMap(([reason, all]) =>
  all.map((text): [string, string] => [text, reason]),
);

test.each(readable)('"%s" is read as %s', (text, reason) => {
  expect(readDeclineReason(text)).toBe(reason);
});

test('every reason has a text that is read as it', () => {
  expect(Object.keys(texts).sort()).toEqual(Object.values(DeclineReason).sort());
});

/** A wrong reason is worse than none. */
const unreadable: Record<string, string[]> = {
  'says nothing': ['', ' ', '-', '\n'],
  'says nothing known': [
    'Error 96',
    'System malfunction',
    'Declined',
    'Call issuer',
    'funds',
    'fraud',
    'expired',
    'card',
    '3DS',
    '😀',
  ],
  'says the opposite': [
    'no suspected fraud',
    'No suspicion of fraud',
    'not suspected fraud',
    'without suspected fraud',
    'Fraud not suspected',
    'funds sufficient',
    'sufficient funds',
    'Funds are not insufficient',
    'no insufficient funds',
    'not insufficient funds',
    'Card not expired',
    'card is not expired',
    'no expired card',
    'not an expired card',
    'Transaction permitted',
    'transaction allowed',
    'Honor',
    'do honor',
    'no 3DS authentication error',
    'without 3DS authentication error',
    'authentication succeeded',
    '3DS authentication successful',
    'authentication never failed',
    'suspected fraud: no',
    'card expired: false',
  ],
  'says two things at once': [
    'Insufficient funds or card expired',
    'do not honor / suspected fraud',
    'Transaction not permitted: suspected fraud',
    '3DS authentication error; insufficient funds',
  ],
  'only looks like one of the words': [
    'donothonors',
    'insufficient fundsX',
    'discard expired',
    'unsuspected fraud',
    'transaction not permittedly',
  ],
  'is in another language': [
    'недостаточно средств',
    'fonds insuffisants',
    'Karte abgelaufen',
    '资金不足',
    'fondos insuficientes',
  ],
};

const silent = Object.entries(unreadable).flatMap(([why, all]) =>
  all.map((text): [string, string] => [text, why]),
);

test.each(silent)('"%s" has no reason: it %s', (text) => {
  expect(readDeclineReason(text)).toBeNull();
});
