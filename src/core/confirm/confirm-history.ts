import type { ConfirmBeginResult, ConfirmedInput } from '../../datasources/journal/journal';
import type { Fingerprints } from '../create/fingerprint';

interface ConfirmHistoryOptions {
  /** The hash of the input that is being confirmed now. */
  inputHash: string;
  begun: ConfirmBeginResult;
  confirmed: readonly ConfirmedInput[];
  fingerprints: Pick<Fingerprints, 'isComparable'>;
}

/** Earlier confirms of a payment in the journal, compared with the input of this one. */
export class ConfirmHistory {
  /** This input was sent before, and may have been carried out. */
  readonly wasSent: boolean;
  /** An earlier input cannot be compared with this one: it was not recorded, or hashed with another key. */
  readonly cannotTell: boolean;
  /** The payment was confirmed with another input. */
  readonly otherConfirmed: boolean;
  /** Another input was sent before, and may have been carried out. */
  readonly otherSuspect: boolean;

  constructor({ inputHash, begun, confirmed, fingerprints }: ConfirmHistoryOptions) {
    const suspects = begun.unresolvedHashes;
    const isComparable = (hash: string): boolean => fingerprints.isComparable(hash);
    const isOther = (hash: string): boolean => hash !== inputHash && isComparable(hash);
    const hashes = [...suspects, ...confirmed.map((each) => each.inputHash)];
    this.wasSent = suspects.includes(inputHash);
    this.cannotTell = !hashes.every(isComparable) || (begun.previousOutcomeUnknown && suspects.length === 0);
    this.otherConfirmed = confirmed.some((each) => isOther(each.inputHash));
    this.otherSuspect = suspects.some(isOther);
  }

  /** An earlier confirm may have been carried out: the payment is looked up before anything is sent. */
  get needsLookup(): boolean {
    return this.wasSent || this.cannotTell || this.otherSuspect;
  }

  /** That the payment has moved on is then the effect of this input, as far as is known. */
  get mayBeRepeat(): boolean {
    return this.wasSent || this.cannotTell;
  }
}
