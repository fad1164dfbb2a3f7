import { truncateSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { hashLine, parseLine } from '../../src/observability/audit/line';
import { entry, linesOf, openLog, putLines, temporaryLog, verify, writeLog } from './support/files';

/** Writes a log: one process writes lines 1 to 5 (opening, three calls, closing), the next one lines 6 to 10. */
async function twoStarts(): Promise<string> {
  const file = temporaryLog();
  await writeLog(file, 'a', 'b', 'c');
  await writeLog(file, 'd', 'e', 'f');
  return file;
}

/** Returns the faults of a log after `change`, each as line number and code. */
async function faultsAfter(change: (lines: string[]) => string[]): Promise<string[]> {
  const file = await twoStarts();
  const lines = linesOf(file);
  const changed = change([...lines]);
  expect(changed).not.toEqual(lines);
  putLines(file, changed);
  return (await verify(file)).faults.map(({ line, code }) => `${line} ${code}`);
}

const without = (place: number) => (lines: string[]) => lines.toSpliced(place - 1, 1);

const swapped = (one: number, other: number) => (lines: string[]) =>
  lines.with(one - 1, lines[other - 1]!).with(other - 1, lines[one - 1]!);

const rewritten = (place: number, from: string | RegExp, to: string) => (lines: string[]) =>
  lines.with(place - 1, lines[place - 1]!.replace(from, to));

/** Recomputes the hash of a line from the line before it, as an attacker can if there is no AUDIT_LOG_KEY. */
const rehashed = (place: number) => (lines: string[]) =>
  lines.with(place - 1, withHash(parseLine(lines[place - 1]!)!.body, parseLine(lines[place - 2]!)!.hash));

const withHash = (body: string, previous: string): string =>
  `${body},"hash":"${hashLine(previous, body, null)}"}`;

function withForgedCall(lines: string[]): string[] {
  const { hash, body } = parseLine(lines[2]!)!;
  return lines.toSpliced(3, 0, withHash(body.replace('"seq":2', '"seq":3'), hash));
}

const changedAmount = rewritten(3, '"10000.00"', '"10.00"');

test.each<[does: string, change: (lines: string[]) => string[], firstFault: string]>([
  ['the first line of the file removed', without(1), '1 lines_missing'],
  ['a call in the middle removed', without(3), '3 lines_missing'],
  ['all lines of the first process removed', (lines) => lines.slice(5), '1 lines_missing'],
  ['the opening line of the second process removed', without(6), '6 lines_missing'],
  ['an amount changed', changedAmount, '3 changed'],
  ['the end of a line changed', rewritten(4, /"\}$/, '"]'), '4 cut_off'],
  ['a call and its hash changed', (lines) => rehashed(3)(changedAmount(lines)), '4 changed'],
  [
    'a call removed, and the closing line after it and its hash changed to fit',
    (lines) => rehashed(4)(rewritten(4, '"seq":4', '"seq":3')(without(4)(lines))),
    '5 lines_missing',
  ],
  ['two calls swapped', swapped(2, 3), '2 lines_missing'],
  ['a line copied', (lines) => lines.toSpliced(3, 0, lines[2]!), '4 out_of_place'],
  ['a text inserted', (lines) => lines.toSpliced(3, 0, 'nothing happened'), '4 not_a_line'],
  ['a call with a matching hash inserted', withForgedCall, '5 out_of_place'],
])('Verification of the audit log detects this change: %s', async (_does, change, firstFault) => {
  expect((await faultsAfter(change))[0]).toBe(firstFault);
});

test('Verification of the audit log detects any change of a single character', async () => {
  const file = await twoStarts();
  const lines = linesOf(file);
  const places = fc.record({
    line: fc.nat(lines.length - 1),
    at: fc.nat(10_000),
    character: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  });
  await fc.assert(
    fc.asyncProperty(places, async ({ line, at, character }) => {
      const text = lines[line]!;
      const place = at % text.length;
      fc.pre(text[place] !== character);
      putLines(file, lines.with(line, `${text.slice(0, place)}${character}${text.slice(place + 1)}`));
      expect((await verify(file)).faults).not.toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test('Verification of the audit log detects the removal of the last lines, or of all lines, of one of two processes', async () => {
  const file = temporaryLog();
  const [one, two] = [openLog(file).log, openLog(file).log];
  for (const log of [one, two, one, two]) log.recordMutation(entry());
  await two.close();
  one.recordMutation(entry());
  await one.close();
  const { faults, notes } = await verify(file);
  expect([...faults, ...notes]).toEqual([]);
  const lines = linesOf(file);
  const other = parseLine(lines[1]!)!.writer;
  const places = lines.flatMap((line, place) => (parseLine(line)!.writer === other ? [place] : []));
  expect(places).toHaveLength(4);
  for (let kept = 0; kept < places.length; kept += 1) {
    putLines(
      file,
      lines.filter((_line, place) => !places.slice(kept).includes(place)),
    );
    expect((await verify(file)).faults).not.toEqual([]);
  }
});

test.each([
  ['some lines', 2],
  ['all lines', 0],
])(
  'The next line that a running process writes to the audit log reveals that %s before it were removed',
  async (_what, kept) => {
    const file = temporaryLog();
    const { log } = openLog(file);
    for (const key of ['a', 'b', 'c']) log.recordMutation(entry({ key }));
    putLines(file, linesOf(file).slice(0, kept));
    // Lines of another process, which does not know the removed lines, do not hide the gap.
    if (kept > 0) await writeLog(file, 'x', 'y', 'z');
    log.recordMutation(entry({ key: 'd' }));
    expect((await verify(file)).faults).not.toEqual([]);
  },
);

test.each([
  ['without a key', null],
  ['with another key', 'another-key'],
])('Verification with AUDIT_LOG_KEY detects an audit log that was rewritten %s', async (_how, key) => {
  const right = 'key-of-the-audit-log';
  const file = temporaryLog();
  const { log } = openLog(file, null, right);
  for (const each of ['a', 'b', 'c']) log.recordMutation(entry({ key: each }));
  await log.close();
  expect((await verify(file, [], right)).faults).toEqual([]);
  let previous = '';
  const rewrittenLines = linesOf(file).map((text) => {
    const body = parseLine(text)!.body.replace('"10000.00"', '"10.00"');
    previous = hashLine(previous, body, key);
    return `${body},"hash":"${previous}"}`;
  });
  putLines(file, rewrittenLines);
  expect((await verify(file, [], key)).faults).toEqual([]);
  const { faults } = await verify(file, [], right);
  expect(faults.map(({ code }) => code)).toEqual(Array(5).fill('changed'));
});

test('Verification against a seal (the hash of a line that was once the last) detects removed lines, and accepts added lines', async () => {
  const file = await twoStarts();
  const { seal = '' } = (await verify(file)).verifier.fileSummaries[0]!;
  const whole = linesOf(file);
  expect(seal).toBe(parseLine(whole.at(-1)!)!.hash);
  const seals = [seal, parseLine(whole[0]!)!.hash];
  await writeLog(file, 'g');
  expect((await verify(file, seals)).verifier.missingExpectedHashes).toEqual([]);
  for (let kept = 0; kept < whole.length; kept += 1) {
    putLines(file, whole.slice(0, kept));
    expect((await verify(file, seals)).verifier.missingExpectedHashes).toEqual(kept === 0 ? seals : [seal]);
  }
});

describe('An audit log line whose process died while writing it', () => {
  test.each([1, 100])(
    'is reported as a note, and the next process begins a new line (%i bytes written)',
    async (bytes) => {
      const file = temporaryLog();
      openLog(file).log.recordMutation(entry());
      openLog(file).log.recordMutation(entry());
      const whole = `${linesOf(file).slice(0, 3).join('\n')}\n`;
      truncateSync(file, whole.length + bytes);
      const { faults, notes, verifier } = await verify(file);
      expect(faults).toEqual([]);
      expect(notes).toMatchObject([{ line: 4, code: 'cut_off' }]);
      expect(verifier.writers.map(({ isClosed }) => isClosed)).toEqual([false, false]);
      await writeLog(file, 'after the crash');
      const later = await verify(file);
      expect(later.faults).toEqual([]);
      expect(later.notes).toMatchObject([{ line: 4, code: 'cut_off' }]);
      expect(linesOf(file)).toHaveLength(7);
      expect(parseLine(linesOf(file)[4]!)).toMatchObject({ event: 'opened', torn: true });
    },
  );

  test('is reported as a note, not a fault, when a power failure left only zero bytes', async () => {
    const file = temporaryLog();
    openLog(file).log.recordMutation(entry());
    writeFileSync(file, Buffer.alloc(300), { flag: 'a' });
    await writeLog(file, 'after the power failure');
    const { faults, notes } = await verify(file);
    expect(faults).toEqual([]);
    expect(notes).toHaveLength(1);
  });

  test('is distinguished from a complete line that was truncated later, which is reported as a fault', async () => {
    const file = await twoStarts();
    const lines = linesOf(file);
    putLines(file, rewritten(5, /.{50}$/, '')(lines));
    expect((await verify(file)).faults.map(({ line }) => line).sort()).toEqual([5, 6]);
    putLines(file, rewritten(10, /.{50}$/, '')(lines));
    expect((await verify(file)).faults).toMatchObject([{ line: 10 }]);
  });
});
