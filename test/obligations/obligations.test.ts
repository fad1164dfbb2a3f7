import { nameOf } from './obligation';
import { obligations } from './obligations';
import { Service } from './service';
import { lacking, openSubject, remoteAccess, type Subject } from './subject';

const ONE_OBLIGATION_WITHIN_MS = 180_000;

const remote = remoteAccess();
const lacks = lacking(remote);
const skipped = obligations.filter(({ needs }) => needs !== undefined && lacks.includes(needs));

if (skipped.length > 0) {
  const names = skipped.map((obligation) => `  ${nameOf(obligation)} (needs ${obligation.needs})`);
  process.stderr.write(`SKIPPED on ${remote?.baseUrl}, ${names.length} obligations:\n${names.join('\n')}\n`);
}

describe(remote ? `the service at ${remote.baseUrl}` : 'the embedded sandbox', () => {
  let subject: Subject;
  let service: Service;

  beforeAll(async () => {
    subject = await openSubject(remote);
    service = new Service(subject.access);
  });

  afterAll(() => subject.close());

  for (const obligation of obligations) {
    const attempt = skipped.includes(obligation) ? test.skip : test;
    attempt(nameOf(obligation), () => obligation.run(service), ONE_OBLIGATION_WITHIN_MS);
  }
});
