/** The calls that a child process serves, by name. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any arguments
export type Handlers = Record<string, (...args: any[]) => unknown>;

export interface CallMessage {
  call: number;
  name: string;
  args: unknown[];
}

/** A message from the child: the result or the error of a call (number 0: the start of the child), or an event. */
export type ChildMessage =
  { call: number; result: unknown } | { call: number; error: string } | { event: unknown };

const send = (message: ChildMessage): void => {
  if (process.connected) process.send?.(message);
};

export const emit = (event: unknown): void => send({ event });

export function serve(handlers: Handlers, ready: Promise<unknown> = Promise.resolve()): void {
  const response = (call: number, work: Promise<unknown>): void =>
    void work.then(
      (result) => send({ call, result }),
      (error: unknown) => send({ call, error: String(error) }),
    );
  process.on('message', ({ call, name, args }: CallMessage) =>
    response(call, (async () => handlers[name]?.(...args))()),
  );
  response(
    0,
    ready.then(() => null),
  );
}
