import type { ConfirmBeginResult, ConfirmedInput } from '../../datasources/journal/journal';

/** Compares the input of a confirm with the inputs of earlier confirms of the payment, by their hashes. */
export function compareWithEarlierInputs(
  inputHash: string,
  { unresolvedInputHashes, isEarlierOutcomeUnknown }: ConfirmBeginResult,
  confirmedInputs: readonly ConfirmedInput[],
  isComparable: (hash: string) => boolean,
) {
  const earlierInputHashes = [...unresolvedInputHashes, ...confirmedInputs.map((input) => input.inputHash)];
  const isOtherInput = (hash: string): boolean => hash !== inputHash && isComparable(hash);
  // An unknown outcome without a hash means that the input of that confirm was not recorded.
  const isEarlierInputUnrecorded = isEarlierOutcomeUnknown && unresolvedInputHashes.length === 0;
  return {
    /** Whether the same input was sent before and may have been carried out. */
    wasSent: unresolvedInputHashes.includes(inputHash),
    /** Whether an earlier input cannot be compared: its hash is missing, or was made with another key. */
    isIncomparable: isEarlierInputUnrecorded || !earlierInputHashes.every(isComparable),
    /** Whether the payment was confirmed with another input. */
    otherConfirmed: confirmedInputs.some((input) => isOtherInput(input.inputHash)),
    /** Whether another input was sent before and may have been carried out. */
    otherUnresolved: unresolvedInputHashes.some(isOtherInput),
  };
}
