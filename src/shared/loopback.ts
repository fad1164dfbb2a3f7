const LOOPBACK_HOST_PATTERN = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i;

export const isLoopback = (host: string): boolean => LOOPBACK_HOST_PATTERN.test(host);
