import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(__dirname, '../..');
const released = readFileSync(path.join(root, 'api/released.graphql'), 'utf8');

interface Checked {
  code: number | null;
  said: string;
}

function run(cwd: string, ...args: string[]): Checked {
  const script = path.join(root, 'scripts/schema-check.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd,
    encoding: 'utf8',
  });
  return { code: status, said: stdout + stderr };
}

/** What the check says of a schema after the released one, and what is the released one then. */
function check(current: string, ...args: string[]): Checked & { recorded: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-schema-'));
  try {
    mkdirSync(path.join(folder, 'api'));
    writeFileSync(path.join(folder, 'api/released.graphql'), released);
    writeFileSync(path.join(folder, 'schema.graphql'), current);
    const checked = run(folder, ...args);
    return { ...checked, recorded: readFileSync(path.join(folder, 'api/released.graphql'), 'utf8') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The released schema with a text in the place of another, which must be there. */
function altered(text: string | RegExp, by: string): string {
  const changed = released.replace(text, by);
  expect(changed).not.toBe(released);
  return changed;
}

const MOON = `
"""A payment on the moon."""
type MoonPayment implements PaymentResource & Node {`;

/** The fields of another payment type. */
const [, FIELDS = ''] = /^type HavalePayment [^{]*\{(.*?)^\}/ms.exec(released) ?? [];

const withMember = (declared: string): string =>
  altered('union Payment = ', 'union Payment = MoonPayment | ') + declared;

const withReason = (reason: string): string =>
  altered('  rawStatus: String!', `  rawStatus: String! @deprecated(reason: ${JSON.stringify(reason)})`);

test('the schema as it is keeps what was promised for the released one', () => {
  expect(run(root)).toMatchObject({ code: 0 });
});

test.each([
  [
    'a field that is gone',
    () => altered(/ {2}"""The merchant channel\."""\n {2}channel: UUID!\n\n/, ''),
    'Attempt.channel',
  ],
  [
    'a field that may be null now',
    () => altered(/rawStatus: String!/g, 'rawStatus: String'),
    'PaymentResource.rawStatus',
  ],
  [
    'an argument that must be given',
    () => altered('node(\n', 'node(\n    """Why."""\n    why: String!\n'),
    'Query.node.why',
  ],
  [
    'an input field that must be given',
    () => altered('input AmountInput {', 'input AmountInput {\n  """Why."""\n  why: String!\n'),
    'AmountInput.why',
  ],
  ['another default', () => altered('first: Int = 20', 'first: Int = 50'), 'Query.attempts.first'],
  [
    'a new outcome of attempts',
    () => altered('enum AttemptOutcome {', 'enum AttemptOutcome {\n  """New."""\n  LOST\n'),
    'AttemptOutcome.LOST',
  ],
  [
    'a payment that has not what every payment has',
    () =>
      withMember(
        '\n"""Odd."""\ntype MoonPayment implements Node {\n  """Odd."""\n  id: ID!\n\n  """Odd."""\n  odd: Int\n}\n',
      ),
    'MoonPayment',
  ],
])('%s breaks clients: it is named, with what to do', (_about, current, named) => {
  const { code, said, recorded } = check(current());
  expect({ code, recorded: recorded === released }).toEqual({ code: 1, recorded: true });
  expect(said).toMatch(/^Breaks clients:$/m);
  expect(said).toContain(named);
  expect(said).toMatch(/deprecate it with a reason.*npm run schema-check -- --release/s);
});

test('what clients were told to live with is listed and allowed', () => {
  const grown = withMember(`${MOON}${FIELDS}}\n`)
    .replace('enum DeclineCode {', 'enum DeclineCode {\n  """New."""\n  MOON_CLOSED\n')
    .replace('node(\n', 'node(\n    """Why."""\n    why: String\n');
  const { code, said } = check(grown);
  expect({ code, said }).toMatchObject({ code: 0, said: expect.not.stringContaining('Breaks clients') });
  for (const named of [
    "'MoonPayment' was added to Union type 'Payment'",
    'DeclineCode.MOON_CLOSED',
    'Query.node.why',
  ])
    expect(said).toContain(named);
});

test('a new field, a new optional input field and another description are nothing to speak of', () => {
  const current = altered(
    'input AmountInput {',
    'input AmountInput {\n  """Why."""\n  why: String\n',
  ).replace('type Amount {', 'type Amount {\n  """Why."""\n  why: String\n');
  expect(check(current.replace('An amount of money (spec 2.2).', 'Money.'))).toMatchObject({
    code: 0,
    said: 'Nothing in 2 changes breaks clients.\n',
  });
});

test.each([
  ['no reason of some length', 'Obsolete.', 'fewer than 20 characters'],
  ['neither a replacement nor a day', 'Nobody needs it, as far as we know.', 'neither a replacement'],
  ['a replacement that does not exist', 'Use `brandNewStatus` instead, please.', 'brandNewStatus'],
])('a deprecation with %s is refused', (_about, reason, named) => {
  const { code, said } = check(withReason(reason));
  expect(code).toBe(1);
  expect(said).toMatch(/^ {2}\w+\.rawStatus: its deprecation /m);
  expect(said).toContain(named);
});

test.each(['Use `status` instead: it says the same.', 'It goes on 2027-03-01, with the old words.'])(
  'a deprecation may say: %s',
  (reason) => {
    expect(check(withReason(reason))).toMatchObject({ code: 0 });
  },
);

test('whatever has no description is named', () => {
  const { code, said } = check(altered('type Amount {', 'type Amount {\n  bare(x: Int): Int\n'));
  expect(code).toBe(1);
  expect(said).toMatch(/Amount\.bare: it has no description.*Amount\.bare\.x: it has no description/s);
});

test('a release takes the schema as the released one, and says of which kind it is', () => {
  const minor = altered('type Amount {', 'type Amount {\n  """Why."""\n  why: String\n');
  expect(check(minor, '--release')).toMatchObject({
    code: 0,
    said: expect.stringContaining('a minor release'),
    recorded: minor,
  });
  const major = altered('first: Int = 20', 'first: Int = 50');
  expect(check(major, '--release')).toMatchObject({
    code: 0,
    said: expect.stringContaining('a major release'),
    recorded: major,
  });
});

test('a schema that cannot be read, or an option that there is not, is another exit code', () => {
  expect(check('type Query {')).toMatchObject({
    code: 2,
    said: expect.stringContaining('cannot be checked'),
  });
  expect(check(released, '--major')).toMatchObject({ code: 2 });
});
