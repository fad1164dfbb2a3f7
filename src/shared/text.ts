/** Matches C0 and C1 control characters, DEL, and line and paragraph separators. */
export const CONTROL_CHARACTERS_PATTERN = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** Whether a text is well-formed Unicode without the characters of CONTROL_CHARACTERS_PATTERN. */
export const isPrintable = (text: string): boolean =>
  text.isWellFormed() && text.search(CONTROL_CHARACTERS_PATTERN) < 0;
