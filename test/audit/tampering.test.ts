import { truncateSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { chained, readLine } from '../../src/audit/chain';
import { entry, linesOf, openLog, putLines, temporaryLog, verify, writeChain } from './support/files';

/** Lines 1 to 5 are a chain with its opening, three calls and its closing; lines 6 to 10 are the one after it. */
async function twoChains(): Promise<string> {
  const file = temporaryLog();
  await writeChain(file, 'a', 'b', 'c');
  await writeChain(file, 'd', 'e', 'f');
  return file;
}

/** What is wrong with a log whose lines were rearranged like that. */
async function faultsAfter(change: (lines: string[]) => string[]): Promise<string[]> {
  const file = await twoChains();
  const lines = linesOf(file);
  const changed = change([...lines]);
  expect(changed).not.toEqual(lines);
  putLines(file, changed);
  return (await verify(file)).faults.map(({ line, says }) => `line ${line}: ${says}`);
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

test('a log that nobody touched has no faults, whole chains, and their calls in their order', async () => {
  const file = await twoChains();
  const { faults, notes, verifier } = await verify(file);
  expect([...faults, ...notes]).toEqual([]);
  expect(verifier.files).toMatchObject([{ lines: 10, calls: 6 }]);
  expect(verifier.chains.map(({ isClosed }) => isClosed)).toEqual([true, true]);
});

test.each<[does: string, change: (lines: string[]) => string[], firstFault: RegExp]>([
  ['the first line of the file', without(1), /^line 1: the first 1 line of chain .* missing/],
  ['a call in the middle', without(3), /^line 3: 1 line of chain .* missing/],
  [
    'two calls in the middle',
    (lines) => without(2)(without(2)(lines)),
    /^line 2: 2 lines of chain .* missing/,
  ],
  ['the end of the older chain', without(5), /^line 5: a line of another chain .* missing/],
  ['the last calls of the older chain', (lines) => lines.toSpliced(2, 3), /^line 3: a line of another chain/],
  ['the older chain', (lines) => lines.slice(5), /^line 1: a line of another chain/],
  ['the opening line of the younger chain', without(6), /^line 6: the first 1 line of chain/],
  ['a call before the last line', without(9), /^line 9: 1 line of chain .* missing/],
])('it shows that somebody removed %s', async (_does, change, firstFault) => {
  expect((await faultsAfter(change))[0]).toMatch(firstFault);
});

test.each<[does: string, change: (lines: string[]) => string[], firstFault: RegExp]>([
  ['an amount', rewritten(3, '"10000.00"', '"10.00"'), /^line 3: this line was changed/],
  ['who called', rewritten(8, 'service:shop', 'service:till'), /^line 8: this line was changed/],
  ['a time', rewritten(2, /"time":"20/, '"time":"21'), /^line 2: this line was changed/],
  ['the hash of a line', rewritten(4, /"hash":"\w{6}/, '"hash":"abcdef'), /^line 4: this line was changed/],
  ['the end of a line', rewritten(4, /"\}$/, '"]'), /^line 5: 1 line of chain .* missing/],
  ['the end of the last line', rewritten(10, /"\}$/, '"]'), /^line 10: this line was cut off, and not while/],
  ['the first line', rewritten(1, '"pid":', '"pid":1'), /^line 1: this line was changed/],
  ['the closing line', rewritten(5, '"lines":5', '"lines":4'), /^line 5: this line was changed/],
  ['a letter to its escaped form', rewritten(3, 'shop', 'sho\\u0070'), /^line 3: this line was changed/],
  [
    'a call and its hash',
    (lines) => rehashed(3)(rewritten(3, '"10000.00"', '"10.00"')(lines)),
    /^line 4: this line was changed, or the one before it/,
  ],
  [
    'the closing line and its hash, so that it fits a shorter chain',
    (lines) => rehashed(4)(rewritten(4, /"seq":4(.*)"lines":5/, '"seq":3$1"lines":4')(without(4)(lines))),
    /^line 5: a line of another chain/,
  ],
])('it shows that somebody changed %s', async (_does, change, firstFault) => {
  expect((await faultsAfter(change))[0]).toMatch(firstFault);
});

test.each<[does: string, change: (lines: string[]) => string[], firstFault: RegExp]>([
  ['two calls swapped', swapped(2, 3), /^line 2: 1 line of chain .* missing/],
  ['calls of two chains swapped', swapped(3, 8), /^line 3: the first 2 lines/],
  ['both chains swapped', (lines) => [...lines.slice(5), ...lines.slice(0, 5)], /^line 1: a line of another/],
  [
    'a line copied',
    (lines) => lines.toSpliced(3, 0, lines[2]!),
    /^line 4: this line is a copy, or not in its/,
  ],
  ['a chain copied', (lines) => [...lines, ...lines.slice(0, 5)], /^line 11: this line is a copy/],
  ['a text inserted', (lines) => lines.toSpliced(3, 0, 'nothing happened'), /^line 4: this is no line/],
  ['other JSON inserted', (lines) => lines.toSpliced(3, 0, '{"level":30}'), /^line 4: this is no line/],
  ['a line cut off', rewritten(3, /.{20}$/, ''), /^line 4: 1 line of chain .* missing/],
])('it shows that somebody has %s', async (_does, change, firstFault) => {
  expect((await faultsAfter(change))[0]).toMatch(firstFault);
});

test('it shows that somebody inserted a call, also one with a hash that fits', async () => {
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
  expect(inItsChain[0]).toMatch(/^line 5: this line is a copy, or not in its place/);
  const inNoChain = await faultsAfter(forge('0123456789abcdef', 3));
  expect(inNoChain).toEqual([
    expect.stringMatching(/^line 4: the first 3 lines of chain 01234567 are missing/),
  ]);
  const asChain = await faultsAfter(forge('0123456789abcdef', 0));
  expect(asChain[0]).toMatch(/^line 4: chain 01234567 does not begin with its opening line/);
});

test('whatever character of the log is changed, it shows', async () => {
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

describe('of two processes that write to one file at once', () => {
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

  test('the lines stand between each other, and nothing is wrong with that', async () => {
    const file = await interleaved();
    const chains = linesOf(file).map((line) => readLine(line)!.chain);
    expect(new Set(chains).size).toBe(2);
    expect(chains.slice(0, 4)).toEqual([chains[0], chains[1], chains[0], chains[1]]);
    expect((await verify(file)).faults).toEqual([]);
  });

  test('it shows that somebody removed all lines of one, or its last ones', async () => {
    const file = await interleaved();
    const lines = linesOf(file);
    const other = readLine(lines[1]!)!.chain;
    const isOther = (line: string): boolean => readLine(line)!.chain === other;
    putLines(
      file,
      lines.filter((line) => !isOther(line)),
    );
    expect((await verify(file)).faults).not.toEqual([]);
    for (let kept = 1; kept < lines.filter(isOther).length; kept += 1) {
      let seen = 0;
      putLines(
        file,
        lines.filter((line) => !isOther(line) || (seen += 1) <= kept),
      );
      expect((await verify(file)).faults).not.toEqual([]);
    }
  });
});

describe('with a seal that was noted before', () => {
  test('it shows that lines were cut off at the end; later lines do not matter', async () => {
    const file = await twoChains();
    const { seal = '' } = (await verify(file)).verifier.files[0]!;
    const whole = linesOf(file);
    await writeChain(file, 'g');
    expect((await verify(file, [seal])).verifier.notFound).toEqual([]);

    for (let kept = 0; kept < whole.length; kept += 1) {
      putLines(file, whole.slice(0, kept));
      const { verifier } = await verify(file, [seal]);
      expect(verifier.notFound).toEqual([seal]);
    }
  });

  test('it shows that the log was written anew, each hash fitting', async () => {
    const file = await twoChains();
    const { seal = '' } = (await verify(file)).verifier.files[0]!;
    writeFileSync(file, '');
    await writeChain(file, 'a', 'b');
    await writeChain(file, 'd', 'e', 'f');
    const { verifier, faults } = await verify(file, [seal]);
    expect(faults).toEqual([]);
    expect(verifier.notFound).toEqual([seal]);
  });

  test('the hash of the last line does as well against cutting off', async () => {
    const file = await twoChains();
    const { hash } = readLine(linesOf(file).at(-1)!)!;
    expect((await verify(file, [hash])).verifier.notFound).toEqual([]);
    putLines(file, linesOf(file).slice(0, -1));
    expect((await verify(file, [hash])).verifier.notFound).toEqual([hash]);
  });
});

describe('a line that was being written when its process died', () => {
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

  test.each([1, 5, 100, 400])(
    'is told apart from a change, at the end of the file (%i bytes)',
    async (bytes) => {
      const { faults, notes, verifier } = await verify(await torn(bytes));
      expect(faults).toEqual([]);
      expect(notes).toMatchObject([{ line: 4, says: expect.stringContaining('cut off') }]);
      expect(verifier.chains.map(({ isClosed }) => isClosed)).toEqual([false, false]);
    },
  );

  test.each([1, 5, 100, 400])('stays alone: the next process begins a new line (%i bytes)', async (bytes) => {
    const file = await torn(bytes);
    await writeChain(file, 'after the crash');
    const { faults, notes } = await verify(file);
    expect(faults).toEqual([]);
    expect(notes).toMatchObject([{ line: 4, says: expect.stringContaining('cut off') }]);
    expect(linesOf(file)).toHaveLength(7);
    expect(readLine(linesOf(file)[4]!)).toMatchObject({ event: 'opened', torn: true });
  });

  test('may be zeros after a power failure', async () => {
    const file = temporaryLog();
    openLog(file).log.record(entry());
    writeFileSync(file, Buffer.alloc(300), { flag: 'a' });
    await writeChain(file, 'after the power failure');
    const { faults, notes } = await verify(file);
    expect(faults).toEqual([]);
    expect(notes).toHaveLength(1);
  });

  test('is not what somebody makes who cuts a line off in the middle of the log', async () => {
    const file = await twoChains();
    const lines = linesOf(file);
    putLines(file, rewritten(5, /.{50}$/, '')(lines));
    expect((await verify(file)).faults.map(({ line }) => line).sort()).toEqual([5, 6]);
    putLines(file, rewritten(10, /.{50}$/, '')(lines));
    expect((await verify(file)).faults).toMatchObject([{ line: 10 }]);
  });
});
