const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID of any version, in upper or lower case. */
export const isUuid = (text: string): boolean => UUID_PATTERN.test(text);

/** Returns the 16 bytes of a UUID. Does not check the text; isUuid() does. */
export const uuidToBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

/** Formats 32 hexadecimal digits as a UUID. */
export const hexToUuid = (digits: string): string =>
  digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** Formats 16 bytes as a UUID in lower case. */
export const bytesToUuid = (bytes: Buffer): string => hexToUuid(bytes.toString('hex'));
