import { randomBytes } from 'node:crypto';
import os from 'node:os';
import process from 'node:process';
import { pino, type Logger } from 'pino';
import type { AppendFile } from './append-file';
import { NOTHING, chained, readLineBehind, type AuditLine } from './chain';

/** What a line tells beside its place in its chain. */
export type AuditFields = Pick<AuditLine, 'event'> & Record<string, unknown>;

/** The machine's name, without what is no part of names. */
const hostName = (): string =>
  os
    .hostname()
    .replace(/[^\w.-]/g, '_')
    .slice(0, 255) || '_';

/** Writes one chain to one file. */
export class ChainWriter {
  readonly id = randomBytes(8).toString('hex');
  readonly #file: AppendFile;
  readonly #continues: AuditLine['continues'];
  readonly #pino: Logger;
  #seq = 0;
  #hash = NOTHING;
  #isEnded = false;
  /** The last line of others that a line of this chain names. */
  #named: string | undefined;
  /** What has to stand between the end of the file and the next line. */
  #between = '';

  /** @param continues the last line of the chain that this process wrote before, to a file that is elsewhere now */
  constructor(file: AppendFile, continues?: AuditLine['continues']) {
    this.#file = file;
    this.#continues = continues;
    this.#pino = pino(
      {
        base: { chain: this.id },
        timestamp: () => `,"time":"${new Date().toISOString()}"`,
        // In the place of a level, as all lines weigh the same.
        formatters: { level: () => ({ audit: 1 }) },
      },
      // Not pino's own destination: that one keeps what it could not write and sends the rest later, then in the middle
      // of what other processes wrote; and a line may only be chained to one that is in the file.
      { write: (json) => this.#append(json) },
    );
  }

  /** Whether the chain's file is still where its name leads. Asked before every writing. */
  isInPlace(): boolean {
    return this.#file.isInPlace();
  }

  /** How long the file is, in bytes. */
  get size(): number {
    return this.#file.size;
  }

  /** The last line that this process has written, in this chain or in the one that it continues. */
  get last(): AuditLine['continues'] {
    return this.#seq > 0 ? { chain: this.id, hash: this.#hash } : this.#continues;
  }

  /** Writes the chain's first line, where that has not been done. */
  begin(): void {
    if (this.#seq > 0) return;
    this.#write({ event: 'opened', continues: this.#continues, pid: process.pid, host: hostName() });
  }

  /** Writes one line; throws where that cannot be done, and leaves the chain as it is. */
  write(facts: AuditFields): void {
    this.begin();
    this.#write(facts);
  }

  /** Writes the chain's last line, where it has a first one and no last one yet. */
  end(missed: number | undefined): void {
    if (this.#isEnded) return;
    this.#file.isInPlace();
    if (this.#seq > 0) this.#write({ event: 'closed', lines: this.#seq + 1, missed });
    this.#isEnded = true;
  }

  /** Lets the file go. */
  close(): void {
    this.#file.close();
  }

  #write(facts: AuditFields): void {
    const end = this.#file.readTail();
    const torn = end !== '' && !end.endsWith('\n');
    const lastOfOthers = this.#lastOfOthers(end);
    const after = lastOfOthers === this.#named ? undefined : lastOfOthers;
    this.#between = torn ? '\n' : '';
    this.#pino.info({ seq: this.#seq, after, torn: torn || undefined, ...facts });
    this.#named = lastOfOthers ?? this.#named;
  }

  #append(json: string): void {
    const { line, hash } = chained(json, this.#hash);
    this.#file.append(`${this.#between}${line}`);
    this.#hash = hash;
    this.#seq += 1;
  }

  /** The hash of the last line at the end of the file that is not of this chain. */
  #lastOfOthers(end: string): string | undefined {
    const lines = end.split('\n').reverse();
    return lines
      .map((text) => readLineBehind(text)?.line)
      .find((line) => line !== undefined && line.chain !== this.id)?.hash;
  }
}
