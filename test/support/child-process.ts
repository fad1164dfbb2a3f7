import { fork, type ChildProcess as NodeChild } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { CallMessage, ChildMessage, Handlers } from './child-handlers';

/** A TypeScript module that runs in its own process and serves calls (see child-handlers.ts). */
export class ChildProcess<H extends Handlers> {
  readonly events: unknown[] = [];
  readonly ended: Promise<unknown>;
  readonly #child: NodeChild;
  readonly #calls = new Map<number, PromiseWithResolvers<unknown>>();
  #last = 0;

  private constructor(child: NodeChild) {
    this.#child = child;
    this.ended = once(child, 'exit').then(() => {
      for (const { reject } of this.#calls.values()) reject(new Error('The process has ended.'));
    });
    child.on('message', (message: ChildMessage) => this.#receive(message));
  }

  static async start<H extends Handlers>(
    module: string,
    { args = [] }: { args?: readonly string[] } = {},
  ): Promise<ChildProcess<H>> {
    const loader = path.join(__dirname, 'child-loader.cjs');
    const child = new ChildProcess<H>(fork(loader, [module, ...args], { execArgv: [] }));
    try {
      await child.#register();
    } catch (error) {
      await child.kill();
      throw error;
    }
    return child;
  }

  call<N extends keyof H & string>(name: N, ...args: Parameters<H[N]>): Promise<Awaited<ReturnType<H[N]>>> {
    const message: CallMessage = { call: (this.#last += 1), name, args };
    const result = this.#register(message.call);
    this.#child.send(message);
    return result as Promise<Awaited<ReturnType<H[N]>>>;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  #register(call = 0): Promise<unknown> {
    const pending = Promise.withResolvers<unknown>();
    // Not an unhandled rejection, because a test may kill the process without awaiting its calls.
    pending.promise.catch(() => undefined);
    this.#calls.set(call, pending);
    return pending.promise;
  }

  #receive(message: ChildMessage): void {
    if ('event' in message) return void this.events.push(message.event);
    const pending = this.#calls.get(message.call);
    this.#calls.delete(message.call);
    if ('error' in message) pending?.reject(new Error(message.error));
    else pending?.resolve(message.result);
  }
}
