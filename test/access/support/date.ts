/** Everything that jest can take in hand but the date and intervals. */
const OTHERS = [
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setTimeout',
  'clearTimeout',
] as const;

/** Makes the date stand still until it is moved; everything else goes on. */
export const stopDate = (): void =>
  void jest.useFakeTimers({ doNotFake: [...OTHERS, 'setInterval', 'clearInterval'] });

/** The same, and what happens in intervals happens when the date is moved by jest.advanceTimersByTime. */
export const stopDateAndIntervals = (): void => void jest.useFakeTimers({ doNotFake: [...OTHERS] });

/** Moves the date. */
export const pass = (ms: number): void => void jest.setSystemTime(Date.now() + ms);
