const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i;

/** Whether a host name or address stays on this machine. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host);
