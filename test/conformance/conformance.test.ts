import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fakeClock } from '../support/fake-clock';
import { API_KEY, CHANNEL, SECRET_KEY, testSandbox } from '../support/gateway';
import { authObligations, signedBytesObligations } from './auth';
import { confirmObligations, forcedConfirmObligations } from './confirm';
import {
  paymentCreateObligations,
  paymentDirectObligations,
  paymentRedirectObligations,
  payoutObligations,
} from './creates';
import { limitObligations, lookupObligations } from './lookups';
import { outcomeObligations } from './outcomes';
import { Service, type Obligations, type ServiceAccess } from './service';

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

/** Returns the service of the environment variables; undefined if none is set. Throws if only some are set. */
function remoteAccess(): ServiceAccess | undefined {
  const names = ['BASE_URL', 'API_KEY', 'SECRET_KEY', 'CHANNEL'].map((name) => `OBLIGATIONS_${name}`);
  const [baseUrl = '', apiKey = '', secretKey = '', channel = ''] = names.map((name) => process.env[name]);
  if (!(baseUrl + apiKey + secretKey + channel)) return undefined;
  if (!baseUrl.endsWith('/') || !apiKey || !secretKey || !channel)
    throw new Error(`Set all of ${names.join(', ')}, or none. The URL ends with a slash.`);
  return { baseUrl, apiKey, secretKey, channel };
}

/** Opens a sandbox in this process with a fake clock. */
async function openSandbox(): Promise<ServiceAccess> {
  const clock = fakeClock(Date.now());
  const { url } = await testSandbox({ realClock: clock });
  const passTime = async (ms: number): Promise<void> => void clock.advance(ms);
  const now = () => clock.now();
  return { baseUrl: url, apiKey: API_KEY, secretKey: SECRET_KEY, channel: CHANNEL, now, passTime };
}

const remote = remoteAccess();
/** Whether the cents of an amount force its outcome, as in the sandbox. */
const hasForcedOutcomes = !remote || process.env['OBLIGATIONS_FORCED_OUTCOMES'] === 'yes';

test('The ids of the tested requirements are those of permanent-ids.txt, each with a unique description', () => {
  const live = listed.filter(([, description]) => !description?.startsWith('RETIRED'));
  expect(obligations.map(({ id }) => id).sort()).toEqual(live.map(([id]) => id).sort());
  expect(new Set(live.map(([, description]) => description || 'none')).size).toBe(live.length);
  expect(sentences.size).toBe(listed.length);
});

describe(remote ? `The service at ${remote.baseUrl}` : 'The embedded sandbox', () => {
  let service: Service;

  beforeAll(async () => {
    service = new Service(remote ?? (await openSandbox()));
  });

  for (const { id, run, needsForcedOutcomes } of obligations) {
    const attempt = needsForcedOutcomes && !hasForcedOutcomes ? test.skip : test;
    attempt(`${sentences.get(id)} (${id})`, () => run(service), ONE_OBLIGATION_WITHIN_MS);
  }
});
