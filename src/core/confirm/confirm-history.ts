import type { ConfirmBeginResult, ConfirmedInput } from '../../datasources/journal/journal';
import type { Fingerprints } from '../create/fingerprint';

interface ConfirmHistoryOptions {
  /** Hash of the input of the current confirm. */
  inputHash: string;
  begun: ConfirmBeginResult;
  confirmed: readonly ConfirmedInput[];
  fingerprints: Pick<Fingerprints, 'isComparable'>;
}

/** Earlier confirms of a payment, compared with the current one. */
export class ConfirmHistory {
  /** The same input was sent before and may have been carried out. */
  readonly wasSent: boolean;
  /** An earlier input cannot be compared: it was not recorded, or hashed with another key. */
  readonly isIncomparable: boolean;
  /** The payment was confirmed with another input. */
  readonly otherConfirmed: boolean;
  /** Another input was sent before and may have been carried out. */
  readonly otherUnresolved: boolean;

  constructor({ inputHash, begun, confirmed, fingerprints }: ConfirmHistoryOptions) {
    const { unresolvedHashes, previousOutcomeUnknown } = begun;
    const isComparable = (hash: string): boolean => fingerprints.isComparable(hash);
    const isOther = (hash: string): boolean => hash !== inputHash && isComparable(hash);
    const hashes = [...unresolvedHashes, ...confirmed.map((each) => each.inputHash)];
    this.wasSent = unresolvedHashes.includes(inputHash);
    this.isIncomparable =
      !hashes.every(isComparable) || (previousOutcomeUnknown && unresolvedHashes.length === 0);
    this.otherConfirmed = confirmed.some((each) => isOther(each.inputHash));
    this.otherUnresolved = unresolvedHashes.some(isOther);
  }

  /** An earlier confirm may have been carried out: the payment must be looked up before this one is sent. */
  get needsLookup(): boolean {
    return this.wasSent || this.isIncomparable || this.otherUnresolved;
  }

  /** This input may have been carried out before: a payment that has moved on then counts as its effect. */
  get mayBeRepeat(): boolean {
    return this.wasSent || this.isIncomparable;
  }
}
