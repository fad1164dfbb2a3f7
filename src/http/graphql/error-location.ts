/** What the log may hold of an error that nobody expected: its class, and where it happened. Its message may hold anything. */
export const errorLocation = (cause: unknown): object =>
  cause instanceof Error ? { name: cause.name, frames: framesOf(cause) } : {};

const framesOf = ({ stack = '' }: Error): string[] =>
  stack
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .map((line) => line.trim());
