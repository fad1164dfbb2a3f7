import { ConfigError } from '../config';

/** Returns the message for the operator about an error at start. For an unexpected error, the message is the stack. */
export function describeStartupError(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  const { code, port, syscall } = Object.assign({ code: '', port: 0, syscall: '' }, error);
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use: set PORT, METRICS_PORT or SANDBOX_PORT (whichever has this value) to another port, or to 0 for any free port.`;
  if (syscall === 'listen' && code === 'EACCES')
    return `Port ${port} needs privileges that this user lacks: set PORT, METRICS_PORT or SANDBOX_PORT (whichever has this value) to 1024 or higher.`;
  if (syscall === 'listen' && code === 'ENOTSUP')
    return 'REUSE_PORT is not supported by this system: set it to off.';
  if (code === 'EADDRNOTAVAIL' || syscall === 'getaddrinfo')
    return `HOST is not an address of this machine (${code}): set it to 127.0.0.1, to 0.0.0.0 for all IPv4 addresses, or to :: for all addresses.`;
  return error instanceof Error ? (error.stack ?? error.message) : 'The gateway could not start.';
}
