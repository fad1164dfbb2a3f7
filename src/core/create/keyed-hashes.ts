import { createHash, createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { Attempt, AttemptKey, PaymentRef } from '../../datasources/journal/journal';
import { hexToUuid } from '../../shared/uuid';

/** The input of a create, without the card's security code. Its keyed hash is the create's fingerprint. */
export interface CanonicalInput {
  kind: string;
  channel: string;
  amount: { currency: string; value: string };
  /** The external id that the caller supplied; null if the gateway generates one. */
  externalId: string | null;
  /** Type and fields of the method, with wire names. */
  method: Record<string, unknown>;
  returnUrl?: string | null;
  callbackUrl?: string | null;
  description?: string | null;
}

/** The payment, method and input (`fields`, with wire names) of a confirm. Their hash is the confirm's fingerprint. */
type CanonicalConfirm = PaymentRef & { method: string; fields: Record<string, unknown> };

/** Returns canonical JSON: with sorted fields, and without fields that are null or undefined. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const jsonMembers: string[] = [];
  for (const fieldName of Object.keys(value).sort()) {
    const fieldValue = (value as Record<string, unknown>)[fieldName];
    if (fieldValue === null || fieldValue === undefined) continue;
    jsonMembers.push(`${JSON.stringify(fieldName)}:${canonicalJson(fieldValue)}`);
  }
  return `{${jsonMembers.join()}}`;
}

const deriveKey = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));

/**
 * Computes keyed hashes (HMAC-SHA-256). Hashes of inputs show whether an input is repeated, so card numbers need not be
 * stored. Without the key, nobody can find a card number by hashing all possible ones.
 */
export class KeyedHashes {
  readonly #fingerprintKey: KeyObject;
  /** Identifies the key of the fingerprints without revealing it: eight hexadecimal digits. */
  readonly #fingerprintKeyId: string;
  readonly #externalIdDerivationKey: KeyObject;

  /** @param secret any secret that all instances share and that does not change; the keys are derived from it */
  constructor(secret: string) {
    const hmacKey = deriveKey(secret, 'paygraph fingerprint');
    this.#fingerprintKey = createSecretKey(hmacKey);
    const fingerprintKeyHash = createHash('sha256').update('paygraph key id').update(hmacKey).digest('hex');
    this.#fingerprintKeyId = fingerprintKeyHash.slice(0, 8);
    this.#externalIdDerivationKey = createSecretKey(deriveKey(secret, 'paygraph external id'));
  }

  /**
   * Returns the fingerprint of a create: the key id and a hash of the input, in the form of a UUID, because the
   * journal stores a UUID in only 16 bytes.
   */
  fingerprintOfCreate(input: CanonicalInput): string {
    return hexToUuid(this.#fingerprintKeyId + this.#hmac(canonicalJson(input)).slice(0, 24));
  }

  /** Returns the fingerprint of a confirm: the key id, a dot, and a hash of the payment and the input. */
  fingerprintOfConfirm(confirm: CanonicalConfirm): string {
    // The prefix "confirm" prevents collisions with creates: their hashed text begins with a brace.
    return `${this.#fingerprintKeyId}.${this.#hmac(`confirm ${canonicalJson(confirm)}`)}`;
  }

  /** Whether a fingerprint was made with the current key. Fingerprints made with different keys cannot be compared. */
  isComparable(fingerprint: string): boolean {
    return fingerprint.startsWith(this.#fingerprintKeyId);
  }

  #hmac(text: string): string {
    return createHmac('sha256', this.#fingerprintKey).update(text).digest('hex');
  }

  /**
   * Whether an attempt has this input. If the fingerprint key has changed since the attempt, compares only the parts
   * that differingParts() compares.
   * @param methodType wire type of the method
   */
  matches(attempt: Attempt, input: CanonicalInput, methodType: string): boolean {
    if (this.isComparable(attempt.fingerprint))
      return attempt.fingerprint === this.fingerprintOfCreate(input);
    return differingParts(attempt, input, methodType).length === 0;
  }

  /**
   * Returns the external id for a create whose caller supplied none: a UUID of version 8 (RFC 9562, 5.8). It is derived
   * from the idempotency key, so that a create can be found at the service even if the journal has lost it.
   */
  deriveExternalId({ service, client, key }: AttemptKey): string {
    const hash = createHmac('sha256', this.#externalIdDerivationKey)
      .update(JSON.stringify([service, client, key]))
      .digest();
    hash.writeUInt8(0x80 | (hash.readUInt8(6) & 0x0f), 6);
    hash.writeUInt8(0x80 | (hash.readUInt8(8) & 0x3f), 8);
    return hexToUuid(hash.toString('hex', 0, 16));
  }
}

/**
 * Returns the names of the parts in which an input differs from an attempt in the journal. Compares five parts only:
 * the result is empty if, for example, only the card number differs. An omitted external id is no difference.
 */
export function differingParts(attempt: Attempt, input: CanonicalInput, methodType: string): string[] {
  const { amount, externalId } = input;
  const isEqualByPart = {
    operation: attempt.kind === input.kind,
    channel: attempt.channel === input.channel,
    method: attempt.method === methodType,
    amount: attempt.currency === amount.currency && attempt.value === amount.value,
    externalId: externalId === null || attempt.externalId === externalId,
  };
  return Object.entries(isEqualByPart).flatMap(([part, isEqual]) => (isEqual ? [] : [part]));
}
