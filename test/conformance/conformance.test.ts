import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { authObligations, signedBytesObligations } from './auth';
import { confirmObligations, forcedConfirmObligations } from './confirm';
import { limitObligations } from './limits';
import { lookupObligations } from './lookups';
import { outcomeObligations } from './outcomes';
import { paymentCreateObligations, paymentDirectObligations, paymentRedirectObligations } from './payments';
import { payoutObligations } from './payout';
import { Service, signature, type Obligations } from './service';
import { hasForcedOutcomes, openSandbox, remoteAccess } from './target';

/** Requirements that can be tested on every service. */
const EVERYWHERE: readonly Obligations[] = [
  authObligations,
  signedBytesObligations,
  paymentCreateObligations,
  paymentRedirectObligations,
  paymentDirectObligations,
  confirmObligations,
  payoutObligations,
  lookupObligations,
  limitObligations,
];

/** Requirements that need a service where the cents of an amount force its outcome. */
const WITH_FORCED_OUTCOMES: readonly Obligations[] = [forcedConfirmObligations, outcomeObligations];

const obligationsOf = (groups: readonly Obligations[], needsForcedOutcomes: boolean) =>
  groups.flatMap((group) => Object.entries(group).map(([id, run]) => ({ id, run, needsForcedOutcomes })));

/** Everything that the specification requires and a client can observe. */
const obligations = [...obligationsOf(EVERYWHERE, false), ...obligationsOf(WITH_FORCED_OUTCOMES, true)];

const ONE_OBLIGATION_WITHIN_MS = 180_000;
const LISTED = /^((?:AUTH|PAY|CNF|OUT|LOOK|ERR|LIM)-\d{3}) ((?:MUST|SHOULD|RETIRED) .+)$/;

const listed = readFileSync(join(__dirname, 'permanent-ids.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => LISTED.exec(line)?.slice(1, 3) ?? [line, '']);
const sentences = new Map(listed.map(([id = '', description = '']) => [id, description]));

const remote = remoteAccess();
const isSkipped = (needsForcedOutcomes: boolean): boolean =>
  needsForcedOutcomes && !hasForcedOutcomes(remote);

describe('The ids of the requirements', () => {
  test('are those of the committed list, each with a unique description', () => {
    const live = listed.filter(([, description]) => !description?.startsWith('RETIRED'));
    expect(obligations.map(({ id }) => id).sort()).toEqual(live.map(([id]) => id).sort());
    expect(new Set(live.map(([, description]) => description)).size).toBe(live.length);
    expect(live.filter(([, description]) => description === '')).toEqual([]);
  });

  test('are never reused once retired', () => {
    expect(sentences.size).toBe(listed.length);
  });
});

describe(remote ? `The service at ${remote.baseUrl}` : 'The embedded sandbox', () => {
  let service: Service;

  beforeAll(async () => {
    service = new Service(remote ?? (await openSandbox()));
  });

  for (const { id, run, needsForcedOutcomes } of obligations) {
    const attempt = isSkipped(needsForcedOutcomes) ? test.skip : test;
    attempt(`${id} ${sentences.get(id)}`, () => run(service), ONE_OBLIGATION_WITHIN_MS);
  }
});

// Each made with: printf '%s' "$timestamp$data" | openssl dgst -sha256 -hmac "$secretKey"
test.each([
  {
    title: 'a query string with %20',
    secretKey: 'correct-horse-battery',
    timestamp: '1700000000',
    data: 'channel=0b8f9f3e-7d0a-4c1c-9b52-3f6a1f0f2a11&external_id=order%205',
    expected: '30133a37b245b8d4d3172c57351c7cf2b8d1c059a94db5a53bc568dc82e7e0e7',
  },
  {
    title: 'a body in raw UTF-8',
    secretKey: 's3cr3t',
    timestamp: '1717146765',
    data: '{"external_id":"заказ №5 🧾","amount":{"value":"25.00"}}',
    expected: '0c4eecdc380665a30358a7c54c9a9c164fad38ccf0a8dad2ee49b6ee0d7ebfaa',
  },
  {
    title: 'no data, under a key that is not ASCII',
    secretKey: 'ключ',
    timestamp: '1717146765',
    data: '',
    expected: '8d330c467021cae87189ab0c964adef170cac41a9d29c63afc57d429add6f9ce',
  },
])(
  'The signature of the conformance tests equals that of openssl for $title',
  ({ expected, title: _, ...input }) => {
    expect(signature(input)).toBe(expected);
  },
);
