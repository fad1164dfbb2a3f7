import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { AuditEntry, AuditFault } from '../../../src/audit/audit-log';
import type { Order } from './child';

const CHILD = path.join(__dirname, 'child.ts');
const TYPESCRIPT = path.resolve(__dirname, '../../journal/support/load-typescript.cjs');

/** Another process that keeps the same audit log. */
export class OtherProcess {
  readonly #child: ChildProcess;
  readonly exited: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.exited = once(child, 'exit');
  }

  /**
   * Resolves when the process has opened the log.
   * @param maxBlocks how long its files may get, as the shell's ulimit counts
   * @param rotateBytes the size at which it rotates the file
   */
  static async start(file: string, maxBlocks?: number, rotateBytes?: number): Promise<OtherProcess> {
    const limit = maxBlocks === undefined ? '' : `ulimit -f ${maxBlocks} && `;
    const more = rotateBytes === undefined ? [] : [String(rotateBytes)];
    const child = spawn(
      'sh',
      ['-c', `${limit}exec "$0" "$@"`, process.execPath, TYPESCRIPT, CHILD, file, ...more],
      {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      },
    );
    const started = new OtherProcess(child);
    await started.#heard();
    return started;
  }

  /** Puts calls on record one after the other; resolves with what the log told about itself. */
  record(...entries: AuditEntry[]): Promise<AuditFault[]> {
    const heard = this.#heard();
    this.#order({ record: entries });
    return heard;
  }

  /** Starts to put calls on record; the process may be ended meanwhile. */
  startRecording(entries: AuditEntry[]): void {
    this.#order({ record: entries });
  }

  async close(): Promise<void> {
    this.#order('close');
    await this.exited;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  #order(order: Order): void {
    this.#child.send(order);
  }

  async #heard(): Promise<AuditFault[]> {
    const ended = this.exited.then(() => Promise.reject(new Error('The process has ended.')));
    ended.catch(() => undefined);
    const [faults] = (await Promise.race([once(this.#child, 'message'), ended])) as [AuditFault[]];
    return faults;
  }
}
