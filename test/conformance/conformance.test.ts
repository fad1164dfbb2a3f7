import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { obligations } from './requirements';
import { Service } from './service';
import { hasForcedOutcomes, openTarget, remoteAccess, type Target } from './target';

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

describe(remote ? `the service at ${remote.baseUrl}` : 'the embedded sandbox', () => {
  let subject: Target;
  let service: Service;

  beforeAll(async () => {
    subject = await openTarget(remote);
    service = new Service(subject.access);
  });

  afterAll(() => subject.close());

  for (const { id, run, needsForcedOutcomes } of obligations) {
    const attempt = isSkipped(needsForcedOutcomes) ? test.skip : test;
    attempt(`${id} ${sentences.get(id)}`, () => run(service), ONE_OBLIGATION_WITHIN_MS);
  }
});
