/** Returns the name and stack frames of an unexpected error for the log. Its message may contain secrets. */
export const errorLocation = (cause: unknown): object =>
  cause instanceof Error ? { name: cause.name, frames: stackFramesOf(cause) } : {};

const stackFramesOf = ({ stack = '' }: Error): string[] =>
  stack
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .map((line) => line.trim());
