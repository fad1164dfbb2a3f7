import { once } from 'node:events';
import { createWriteStream, mkdirSync, writeFileSync, type WriteStream } from 'node:fs';
import path from 'node:path';
import { checkFiles, type Judged } from '../history/main';
import type { LedgerLine } from '../history/format';
import { Recorder } from '../history/recorder';
import type { Json } from '../support/caller';
import type { FakePaymentService } from '../support/payment-service/fake-payment-service';
import type { Entry } from '../support/payment-service/ledger';

/** The UTRs of confirms by the labels that stand for them in a history. */
const UTRS = { A: '123456789012', B: '210987654321' } as const;

type ConfirmationLabel = keyof typeof UTRS;

export const CONFIRMATION_LABELS = Object.keys(UTRS) as ConfirmationLabel[];

export const confirmationOf = (label: ConfirmationLabel): Json => ({ upi: { utr: UTRS[label] } });

/** The clock of a run in ms: monotonic, but close to the time since 1970, which signatures of requests need. */
export const monotonicNow = (): number => performance.timeOrigin + performance.now();

export class HistoryFiles {
  readonly recorder: Recorder;
  readonly #startedAt = monotonicNow();
  readonly #files: [history: string, ledger: string];
  readonly #history: WriteStream;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#files = [path.join(folder, 'history.jsonl'), path.join(folder, 'ledger.jsonl')];
    this.#history = createWriteStream(this.#files[0]);
    this.recorder = new Recorder(
      (line) => void this.#history.write(`${JSON.stringify(line)}\n`),
      () => this.#timeOf(monotonicNow()),
    );
  }

  async judge(service: FakePaymentService): Promise<Judged> {
    this.#history.end();
    await once(this.#history, 'finish');
    const lines = service.ledger.entries.map((entry) => `${JSON.stringify(this.#ledgerLine(entry))}\n`);
    writeFileSync(this.#files[1], lines.join(''));
    return checkFiles(...this.#files);
  }

  #timeOf(now: number): number {
    return Math.round((now - this.#startedAt) * 1000) / 1000;
  }

  #ledgerLine(entry: Entry): LedgerLine {
    const { kind, transactionId, channel, externalId, amount, method, description: key } = entry;
    return {
      ...{ kind, transactionId, key, channel, externalId, amount },
      method: String(method['type']),
      requestedAt: this.#timeOf(entry.requestedAt),
      createdAt: this.#timeOf(entry.createdAt),
      visibleAt: this.#timeOf(entry.visibleAt),
      confirms: entry.confirmations.map(({ body, requestedAt, carriedOutAt }) => ({
        confirmation:
          CONFIRMATION_LABELS.find((label) => JSON.stringify(body).includes(UTRS[label])) ?? 'other',
        requestedAt: this.#timeOf(requestedAt),
        carriedOutAt: this.#timeOf(carriedOutAt),
      })),
    };
  }
}
