/** Matches C0 and C1 control characters, DEL, and line and paragraph separators. */
export const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** Whether a text is well-formed Unicode without CONTROL_CHARACTERS. */
export const isPrintable = (text: string): boolean =>
  text.isWellFormed() && text.search(CONTROL_CHARACTERS) < 0;
