import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type {
  Attempt,
  Begun,
  Claim,
  ConfirmClaim,
  NewAttempt,
} from '../../../src/datasources/journal/journal';

export type Order =
  | { do: 'begin' | 'begin one after the other' | 'begin and close at once'; attempts: NewAttempt[] }
  | { do: 'claim due'; claim: Claim; limit: number }
  | { do: 'confirm'; claims: ConfirmClaim[] }
  | { do: 'hold the file'; ms: number };

export type Answer = { call: number; result: unknown } | { call: number; error: string } | { begun: string };

/** Another process of this machine that uses the same journal. */
export class OtherProcess {
  /** Ids of attempts that it said were begun. */
  readonly begun: string[] = [];
  readonly #child: ChildProcess;
  readonly #calls = new Map<number, PromiseWithResolvers<unknown>>();
  readonly ended: Promise<unknown>;
  #heard = (): void => undefined;
  #last = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#calls.set(0, Promise.withResolvers());
    this.ended = once(child, 'exit').then(() => {
      for (const { reject } of this.#calls.values()) reject(new Error('The process has ended.'));
    });
    child.on('message', (answer: Answer) => this.#hear(answer));
  }

  /** Resolves when the process has opened the journal. */
  static async start(url: string): Promise<OtherProcess> {
    const program = path.join(__dirname, 'child.ts');
    const started = new OtherProcess(
      fork(path.join(__dirname, 'load-typescript.cjs'), [program, url], { execArgv: [] }),
    );
    await started.#calls.get(0)?.promise;
    return started;
  }

  begin(attempts: NewAttempt[]): Promise<Begun[]> {
    return this.#call<Begun[]>({ do: 'begin', attempts });
  }

  claimDue(claim: Claim, limit: number): Promise<Attempt[]> {
    return this.#call<Attempt[]>({ do: 'claim due', claim, limit });
  }

  beginConfirms(claims: ConfirmClaim[]): Promise<({ suspect: boolean } | null)[]> {
    return this.#call({ do: 'confirm', claims });
  }

  /** Keeps everybody else from writing to the SQLite file for a while. */
  async holdFile(ms: number): Promise<void> {
    await this.#call({ do: 'hold the file', ms });
  }

  /** Begins attempts one after the other; resolves when so many have been begun. */
  beginUntil(count: number, attempts: NewAttempt[]): Promise<void> {
    this.#call({ do: 'begin one after the other', attempts }).catch(() => undefined);
    return new Promise((resolve) => {
      this.#heard = () => this.begun.length >= count && resolve();
    });
  }

  /** Resolves when the process has ended by itself. */
  async beginAndClose(attempts: NewAttempt[]): Promise<void> {
    this.#call({ do: 'begin and close at once', attempts }).catch(() => undefined);
    await this.ended;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  #call<T>(order: Order): Promise<T> {
    const call = (this.#last += 1);
    const waiting = Promise.withResolvers<unknown>();
    this.#calls.set(call, waiting);
    this.#child.send({ ...order, call });
    return waiting.promise as Promise<T>;
  }

  #hear(answer: Answer): void {
    if ('begun' in answer) {
      this.begun.push(answer.begun);
      this.#heard();
      return;
    }
    const waiting = this.#calls.get(answer.call);
    this.#calls.delete(answer.call);
    if ('error' in answer) waiting?.reject(new Error(answer.error));
    else waiting?.resolve(answer.result);
  }
}
