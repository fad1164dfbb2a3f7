import * as fc from 'fast-check';
import { ConfigError, readConfig } from '../../src/config';
import { DEFAULT_SCHEDULE, nextLook, readPace, type Pace } from '../../src/operations/watching/schedule';
import { testSettings } from '../support/gateway';

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
type Unit = keyof typeof UNITS;

const duration = fc
  .tuple(fc.integer({ min: 1, max: 999 }), fc.constantFrom<Unit>('ms', 's', 'm'))
  .map(([number, unit]) => ({ text: `${number}${unit}`, ms: number * UNITS[unit] }));
const often = duration.filter(({ ms }) => ms >= 100);

/** A pace as it may be written, and what it has to be understood as. */
const paces = fc.tuple(fc.array(fc.tuple(often, duration), { maxLength: 6 }), often).map(([steps, last]) => {
  const inOrder = steps
    .sort(([, a], [, b]) => a.ms - b.ms)
    .filter(([, until], place, all) => until.ms > (all[place - 1]?.[1].ms ?? 0));
  return {
    text: [...inOrder.map(([every, until]) => `${every.text}/${until.text}`), last.text].join(' '),
    pace: [
      ...inOrder.map(([every, until]) => ({ everyMs: every.ms, untilMs: until.ms })),
      { everyMs: last.ms, untilMs: Infinity },
    ],
  };
});

describe('A pace', () => {
  test('is understood as it is written', () => {
    fc.assert(fc.property(paces, ({ text, pace }) => expect(readPace(text)).toEqual(pace)));
  });

  test('has steps that end later and later, the last never, and none more often than every 100 ms', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[0-9msh/ ]{0,24}$/),
      fc
        .tuple(paces, fc.nat(40), fc.constantFrom('', ' ', '/', '0', 's', 'h', '9'))
        .map(([{ text }, place, more]) => text.slice(0, place) + more + text.slice(place + 1)),
    );
    fc.assert(
      fc.property(anything, (text) => {
        const pace = readPace(text);
        if (!pace) return;
        expect(pace.length).toBeGreaterThan(0);
        pace.forEach(({ everyMs, untilMs }, place) => {
          expect(everyMs).toBeGreaterThanOrEqual(100);
          expect(untilMs).toBeGreaterThan(pace[place - 1]?.untilMs ?? 0);
          expect(untilMs === Infinity).toBe(place === pace.length - 1);
        });
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ['no step', ''],
    ['no unit', '5'],
    ['a unit that is none', '5d'],
    ['a unit in capitals', '5S'],
    ['a sign', '-5s'],
    ['a fraction', '1.5s'],
    ['more often than every 100 ms', '99ms'],
    ['never', '0s'],
    ['a last step with an end', '1s/30s'],
    ['a step before the last without an end', '1s 5s'],
    ['steps that end in the wrong order', '1s/30s 5s/20s 60s'],
    ['steps that end together', '1s/30s 5s/30s 60s'],
    ['a step that ends at once', '1s/0s 5s'],
    ['two ends', '1s/30s/40s 5s'],
    ['two spaces', '1s/30s  5s'],
    ['a space at its end', '5s '],
    ['a comma', '1s/30s, 5s'],
    ['a line break', '1s/30s\n5s'],
  ])('is not understood with %s', (_what, text) => {
    expect(readPace(text)).toBeUndefined();
  });

  test('is not understood where a timer cannot wait so long: it would go off at once', () => {
    // Node runs a timer of more than 2^31 - 1 ms after one.
    expect(readPace('1s/1h 999h')).toBeUndefined();
    expect(readPace('999999h')).toBeUndefined();
  });
});

describe('The next look', () => {
  const settled = paces.map(({ pace }) => pace);

  /** The step that counts so long after the last change. */
  const stepAt = (pace: Pace, sinceMs: number): number =>
    pace.find(({ untilMs }) => sinceMs < untilMs)?.everyMs ?? NaN;

  test('comes within 15 % of what the step says', () => {
    fc.assert(
      fc.property(settled, fc.nat(100_000_000), (pace, sinceMs) => {
        const everyMs = stepAt(pace, sinceMs);
        const next = nextLook(pace, sinceMs, 0);
        expect(next).toBeGreaterThanOrEqual(Math.floor(everyMs * 0.85));
        expect(next).toBeLessThanOrEqual(Math.ceil(everyMs * 1.15));
      }),
      { numRuns: 2000 },
    );
  });

  test('does not come after the same time for all', () => {
    const looks = Array.from({ length: 200 }, () => nextLook(DEFAULT_SCHEDULE.payer, 0, 0));
    expect(new Set(looks).size).toBeGreaterThan(100);
    expect(Math.min(...looks)).toBeLessThan(1850);
    expect(Math.max(...looks)).toBeGreaterThan(2150);
  });

  test('comes later after each failure, a minute later at most, and never sooner than without', () => {
    fc.assert(
      fc.property(
        settled,
        fc.nat(100_000_000),
        fc.integer({ min: 1, max: 10_000 }),
        (pace, sinceMs, failures) => {
          const backoffMs = Math.min(60_000, 1000 * 2 ** (failures - 1));
          const leastMs = Math.max(stepAt(pace, sinceMs), backoffMs);
          const next = nextLook(pace, sinceMs, failures);
          expect(next).toBeGreaterThanOrEqual(Math.floor(leastMs * 0.85));
          expect(next).toBeLessThanOrEqual(Math.ceil(leastMs * 1.15));
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('The settings', () => {
  const read = (env: Record<string, string>) => readConfig({ ...testSettings(), ...env });

  test('are the table of docs/configuration.md unless something else is said', () => {
    const { watching } = read({});
    expect(watching.schedule).toEqual({
      payer: readPace('2s/2m 5s/10m 15s/1h 60s'),
      provider: readPace('1s/30s 2s/2m 5s/10m 15s/1h 60s'),
      mispaid: readPace('15s/10m 60s'),
    });
    expect(watching.outageMs).toBe(300_000);
  });

  test.each([
    ['payer', 'WATCH_PACE_PAYER'],
    ['provider', 'WATCH_PACE_PROVIDER'],
    ['mispaid', 'WATCH_PACE_MISPAID'],
  ] as const)('change the pace of the phase %s, and no other', (phase, name) => {
    const { schedule } = read({ [name]: '300ms/1s 7s' }).watching;
    expect(schedule).toEqual({ ...DEFAULT_SCHEDULE, [phase]: readPace('300ms/1s 7s') });
  });

  test.each(['WATCH_PACE_PAYER', 'WATCH_PACE_PROVIDER', 'WATCH_PACE_MISPAID'])(
    '%s is refused with its name and what is expected, without what was given',
    (name) => {
      const start = (): unknown => read({ [name]: '1s/31s 17s/18s' });
      expect(start).toThrow(ConfigError);
      expect(start).toThrow(`${name}`);
      expect(start).toThrow(
        'steps such as 1s/30s 5s/10m 60s: how often (100ms to 24h), until how long after the last change',
      );
    },
  );

  test.each(['-1', '1.5', '86401', 'never', '5m'])('an outage of %s seconds is refused', (text) => {
    expect(() => read({ WATCH_OUTAGE_SECONDS: text })).toThrow(/WATCH_OUTAGE_SECONDS.*0.*86400/);
  });
});
