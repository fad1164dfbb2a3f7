/** Log fields of an unexpected error: class and stack frames. The message is left out, as it may contain secrets. */
export const errorLocation = (cause: unknown): object =>
  cause instanceof Error ? { name: cause.name, frames: framesOf(cause) } : {};

const framesOf = ({ stack = '' }: Error): string[] =>
  stack
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .map((line) => line.trim());
