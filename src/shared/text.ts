/** C0 and C1 controls, DEL, line and paragraph separators. */
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** Whether a text is well-formed Unicode without control characters and line separators. */
export const isPrintable = (text: string): boolean => text.isWellFormed() && !CONTROL_CHARACTER.test(text);
