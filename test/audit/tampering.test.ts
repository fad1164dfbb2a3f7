import { truncateSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { chained, readLine } from '../../src/observability/audit/chain';
import { entry, linesOf, openLog, putLines, temporaryLog, verify, writeChain } from './support/files';

/** Lines 1 to 5 are a chain with its opening, three calls and its closing; lines 6 to 10 are the one after it. */
async function twoChains(): Promise<string> {
  const file = temporaryLog();
  await writeChain(file, 'a', 'b', 'c');
  await writeChain(file, 'd', 'e', 'f');
  return file;
}

/** The faults of a log whose lines were changed like that: line and code. */
async function faultsAfter(change: (lines: string[]) => string[]): Promise<string[]> {
  const file = await twoChains();
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

/** Makes a line fit on the one before it, as somebody does who knows how the hashes are made. */
const rehashed = (place: number) => (lines: string[]) => {
  const line = readLine(lines[place - 1]!)!;
  const fitting = chained(`${line.body}}`, readLine(lines[place - 2]!)!.hash);
  return lines.with(place - 1, fitting.line.trimEnd());
};

test('Verification finds no fault in an unchanged log', async () => {
  const { faults, notes, verifier } = await verify(await twoChains());
  expect([...faults, ...notes]).toEqual([]);
  expect(verifier.files).toMatchObject([{ lines: 10, calls: 6 }]);
  expect(verifier.chains.map(({ isClosed }) => isClosed)).toEqual([true, true]);
});

test.each<[does: string, change: (lines: string[]) => string[], firstFault: string]>([
  ['the first line of the file removed', without(1), '1 lines_missing'],
  ['a call in the middle removed', without(3), '3 lines_missing'],
  ['the older chain removed', (lines) => lines.slice(5), '1 other_chain_missing'],
  ['the opening line of the younger chain removed', without(6), '6 lines_missing'],
  ['an amount changed', rewritten(3, '"10000.00"', '"10.00"'), '3 changed'],
  ['the hash of a line changed', rewritten(4, /"hash":"\w{6}/, '"hash":"abcdef'), '4 changed'],
  ['the end of a line changed', rewritten(4, /"\}$/, '"]'), '5 lines_missing'],
  ['the end of the last line changed', rewritten(10, /"\}$/, '"]'), '10 cut_off'],
  ['the first line changed', rewritten(1, '"pid":', '"pid":1'), '1 changed'],
  ['a letter to its escaped form changed', rewritten(3, 'shop', 'sho\\u0070'), '3 changed'],
  [
    'a call and its hash changed',
    (lines) => rehashed(3)(rewritten(3, '"10000.00"', '"10.00"')(lines)),
    '4 changed',
  ],
  [
    'the closing line and its hash, so that it fits a shorter chain changed',
    (lines) => rehashed(4)(rewritten(4, /"seq":4(.*)"lines":5/, '"seq":3$1"lines":4')(without(4)(lines))),
    '5 other_chain_missing',
  ],
  ['two calls swapped', swapped(2, 3), '2 lines_missing'],
  ['both chains swapped', (lines) => [...lines.slice(5), ...lines.slice(0, 5)], '1 other_chain_missing'],
  ['a line copied', (lines) => lines.toSpliced(3, 0, lines[2]!), '4 out_of_place'],
  ['a chain copied', (lines) => [...lines, ...lines.slice(0, 5)], '11 out_of_place'],
  ['a text inserted', (lines) => lines.toSpliced(3, 0, 'nothing happened'), '4 not_a_line'],
])('Verification finds: %s', async (_does, change, firstFault) => {
  expect((await faultsAfter(change))[0]).toBe(firstFault);
});

test('Verification finds an inserted call, also with a matching hash', async () => {
  const forge =
    (chain: string | undefined, seq: number) =>
    (lines: string[]): string[] => {
      const { hash, body } = readLine(lines[2]!)!;
      const forged = body
        .replace(/"seq":\d+/, `"seq":${seq}`)
        .replace(/"chain":"\w+"/, (own) => (chain ? `"chain":"${chain}"` : own));
      return lines.toSpliced(3, 0, chained(`${forged}}`, hash).line.trimEnd());
    };
  const inItsChain = await faultsAfter(forge(undefined, 3));
  expect(inItsChain[0]).toBe('5 out_of_place');
  const inNoChain = await faultsAfter(forge('0123456789abcdef', 3));
  expect(inNoChain).toEqual(['4 lines_missing']);
  const asChain = await faultsAfter(forge('0123456789abcdef', 0));
  expect(asChain[0]).toBe('4 no_opening');
});

test('Verification finds any single changed character', async () => {
  const file = await twoChains();
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

describe('Verification of two processes that write to one file', () => {
  /** Two chains line by line in turn, the second one shorter and closed before. */
  async function interleaved(): Promise<string> {
    const file = temporaryLog();
    const [one, two] = [openLog(file).log, openLog(file).log];
    for (const key of ['a', 'b']) {
      one.record(entry({ key }));
      two.record(entry({ key }));
    }
    await two.close();
    one.record(entry({ key: 'c' }));
    await one.close();
    return file;
  }

  test('finds no fault in interleaved lines', async () => {
    const file = await interleaved();
    const chains = linesOf(file).map((line) => readLine(line)!.chain);
    expect(new Set(chains).size).toBe(2);
    expect(chains.slice(0, 4)).toEqual([chains[0], chains[1], chains[0], chains[1]]);
    expect((await verify(file)).faults).toEqual([]);
  });

  test('finds that all or the last lines of one were removed', async () => {
    const file = await interleaved();
    const lines = linesOf(file);
    const other = readLine(lines[1]!)!.chain;
    const isOther = (line: string): boolean => readLine(line)!.chain === other;
    for (let kept = 0; kept < lines.filter(isOther).length; kept += 1) {
      let seen = 0;
      putLines(
        file,
        lines.filter((line) => !isOther(line) || (seen += 1) <= kept),
      );
      expect((await verify(file)).faults).not.toEqual([]);
    }
  });
});

describe('Verification with a seal', () => {
  test('finds lines that were cut off at the end, and accepts later ones', async () => {
    const file = await twoChains();
    const { seal = '' } = (await verify(file)).verifier.files[0]!;
    const whole = linesOf(file);
    // The hash of the last line is as good.
    const seals = [seal, readLine(whole.at(-1)!)!.hash];
    await writeChain(file, 'g');
    expect((await verify(file, seals)).verifier.notFound).toEqual([]);

    for (let kept = 0; kept < whole.length; kept += 1) {
      putLines(file, whole.slice(0, kept));
      expect((await verify(file, seals)).verifier.notFound).toEqual(seals);
    }
  });

  test('finds a log that was rewritten with matching hashes', async () => {
    const file = await twoChains();
    const { seal = '' } = (await verify(file)).verifier.files[0]!;
    writeFileSync(file, '');
    await writeChain(file, 'a', 'b');
    await writeChain(file, 'd', 'e', 'f');
    const { verifier, faults } = await verify(file, [seal]);
    expect(faults).toEqual([]);
    expect(verifier.notFound).toEqual([seal]);
  });
});

describe('A line whose process died while writing it', () => {
  /** The log of a process that died after so many bytes of its last line. */
  async function torn(bytes: number): Promise<string> {
    const file = temporaryLog();
    openLog(file).log.record(entry());
    const written = linesOf(file);
    openLog(file).log.record(entry({ key: 'the last one' }));
    const [opening] = linesOf(file).slice(written.length);
    const whole = [...written, opening].join('\n').length + 1;
    truncateSync(file, whole + bytes);
    return file;
  }

  test.each([1, 100])(
    'is a note, and is followed by a new line of the next process (%i bytes)',
    async (bytes) => {
      const file = await torn(bytes);
      const { faults, notes, verifier } = await verify(file);
      expect(faults).toEqual([]);
      expect(notes).toMatchObject([{ line: 4, code: 'cut_off' }]);
      expect(verifier.chains.map(({ isClosed }) => isClosed)).toEqual([false, false]);
      await writeChain(file, 'after the crash');
      const later = await verify(file);
      expect(later.faults).toEqual([]);
      expect(later.notes).toMatchObject([{ line: 4, code: 'cut_off' }]);
      expect(linesOf(file)).toHaveLength(7);
      expect(readLine(linesOf(file)[4]!)).toMatchObject({ event: 'opened', torn: true });
    },
  );

  test('is a note when it is zeros after a power failure', async () => {
    const file = temporaryLog();
    openLog(file).log.record(entry());
    writeFileSync(file, Buffer.alloc(300), { flag: 'a' });
    await writeChain(file, 'after the power failure');
    const { faults, notes } = await verify(file);
    expect(faults).toEqual([]);
    expect(notes).toHaveLength(1);
  });

  test('is not confused with a line that was cut off later', async () => {
    const file = await twoChains();
    const lines = linesOf(file);
    putLines(file, rewritten(5, /.{50}$/, '')(lines));
    expect((await verify(file)).faults.map(({ line }) => line).sort()).toEqual([5, 6]);
    putLines(file, rewritten(10, /.{50}$/, '')(lines));
    expect((await verify(file)).faults).toMatchObject([{ line: 10 }]);
  });
});
