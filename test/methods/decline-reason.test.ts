import { DeclineReason, readDeclineReason } from '../../src/schema/decline';

/** Texts by reason. Texts are an open set (spec 7.2); those that the specification names may be spelled in any way. */
const texts: Record<DeclineReason, string[]> = {
  DO_NOT_HONOR: ['do-not-honor', 'DO_NOT_HONOR', '05: Do Not Honour.', 'Declined (do  not\thonor)'],
  AUTHENTICATION_FAILED: [
    '3ds_authentication_error',
    '3-D Secure authentication failed',
    '3DS error (code 12)',
  ],
  INSUFFICIENT_FUNDS: ['51 - Insufficient Funds', 'Not enough funds on the account', 'Insufficient balance'],
  CARD_EXPIRED: ['CARD_EXPIRED', 'The card has expired.', '54/expired-card'],
  SUSPECTED_FRAUD: ['Suspected-Fraud (59)', 'Fraud suspected', 'Suspicion of fraud'],
  NOT_PERMITTED: ['57: transaction is not permitted', 'Transaction not allowed'],
};

const readable = Object.entries(texts).flatMap(([reason, all]) =>
  all.map((text): [string, string] => [text, reason]),
);

test.each(readable)('The text "%s" has the reason %s', (text, reason) => {
  expect(readDeclineReason(text)).toBe(reason);
});

test('Every DeclineReason has texts in this test', () => {
  expect(Object.keys(texts).sort()).toEqual(Object.values(DeclineReason).sort());
});

/** Texts without a reason, by explanation, because a wrong reason would be worse than none. */
const unreadable: Record<string, string[]> = {
  'says nothing': ['', '\n'],
  'says nothing known': ['Error 96', 'Declined', 'funds', 'fraud', 'expired', '3DS', '😀'],
  'says the opposite': [
    ...['no suspected fraud', 'not suspected fraud', 'without suspected fraud', 'suspected fraud: no'],
    ...['Fraud not suspected', 'sufficient funds', 'Funds are not insufficient', 'card expired: false'],
    ...['card is not expired', 'Transaction permitted', 'do honor', 'no 3DS authentication error'],
    ...['3DS authentication successful', 'authentication never failed'],
  ],
  'says two things at once': ['Insufficient funds or card expired', 'do not honor / suspected fraud'],
  'only looks like one of the words': ['donothonors', 'insufficient fundsX', 'discard expired'],
  'is in another language': ['недостаточно средств', 'Karte abgelaufen', '资金不足'],
};

const silent = Object.entries(unreadable).flatMap(([why, all]) =>
  all.map((text): [string, string] => [text, why]),
);

test.each(silent)('The text "%s" has no reason: it %s', (text) => {
  expect(readDeclineReason(text)).toBeNull();
});
