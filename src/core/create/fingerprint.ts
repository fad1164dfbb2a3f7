import { createHash, createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { Attempt } from '../../datasources/journal/journal';

/** What a create asks for, as far as it makes one input differ from another. Security codes are left out. */
export interface CanonicalInput {
  kind: string;
  channel: string;
  amount: { currency: string; value: string };
  /** As the caller gave it; null where the gateway chooses. */
  externalId: string | null;
  method: Record<string, unknown>;
  returnUrl?: string | null;
  callbackUrl?: string | null;
  description?: string | null;
}

/** The parts of a confirm that its input hash covers. */
export interface CanonicalConfirm {
  service: string;
  channel: string;
  transactionId: string;
  method: string;
  /** The payer's input, in wire spelling. */
  fields: Record<string, unknown>;
}

/** The same text for the same value, whatever the order of its fields; what is null or missing counts for nothing. */
function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const fields: string[] = [];
  for (const name of Object.keys(value).sort()) {
    const inner = (value as Record<string, unknown>)[name];
    if (inner !== null && inner !== undefined) fields.push(`${JSON.stringify(name)}:${canonicalText(inner)}`);
  }
  return `{${fields.join()}}`;
}

/** Recognises an input again without keeping it: a keyed hash, so that a card number cannot be guessed from the journal. */
export class Fingerprints {
  readonly #key: KeyObject;
  /** Tells a fingerprint made with another key; says nothing of the key. */
  readonly #keyId: string;

  /** @param secret any secret that all instances share and that stays the same; the key is derived from it */
  constructor(secret: string) {
    const key = Buffer.from(hkdfSync('sha256', secret, '', 'paygraph fingerprint', 32));
    this.#key = createSecretKey(key);
    this.#keyId = createHash('sha256').update('paygraph key id').update(key).digest('hex').slice(0, 8);
  }

  of(input: CanonicalInput): string {
    return this.#hash(canonicalText(input));
  }

  /** The hash of the input of a confirm; it differs from payment to payment. */
  ofConfirm(confirm: CanonicalConfirm): string {
    // The text of a create begins with a brace: the two never meet.
    return this.#hash(`confirm ${canonicalText(confirm)}`);
  }

  /** Whether a hash was made with this key: others cannot be compared. */
  isComparable(hash: string): boolean {
    return hash.startsWith(`${this.#keyId}.`);
  }

  #hash(text: string): string {
    return `${this.#keyId}.${createHmac('sha256', this.#key).update(text).digest('hex')}`;
  }

  /**
   * Whether an attempt was made with this input. After the key was changed the hashes cannot be compared; then what
   * the journal shows of the input decides.
   */
  matches(attempt: Attempt, input: CanonicalInput, method: string): boolean {
    if (this.isComparable(attempt.fingerprint)) return attempt.fingerprint === this.of(input);
    return differingParts(attempt, input, method).length === 0;
  }
}

/** The parts of an input that differ from those of an attempt, as far as the journal shows them. */
export function differingParts(attempt: Attempt, input: CanonicalInput, method: string): string[] {
  const { amount, externalId } = input;
  const isSame = {
    operation: attempt.kind === input.kind,
    channel: attempt.channel === input.channel,
    method: attempt.method === method,
    amount: attempt.currency === amount.currency && attempt.value === amount.value,
    externalId: externalId === null || attempt.externalId === externalId,
  };
  return Object.entries(isSame).flatMap(([part, same]) => (same ? [] : [part]));
}
