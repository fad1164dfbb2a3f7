import { ConfigError } from './config';

/** Something that ended a start and was put into words already. */
export class StartFault extends Error {}

/** What is wrong at start, in words for the operator; never a value of a setting. */
export function startFault(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StartFault) return error.message;
  const { code, port, syscall } = Object.assign({ code: '', port: 0, syscall: '' }, error);
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use: set PORT or SANDBOX_PORT to another, or to 0 for any free one.`;
  if (syscall === 'listen' && code === 'EACCES')
    return `Port ${port} needs privileges that this user lacks: set PORT or SANDBOX_PORT to 1024 or higher.`;
  if (code === 'EADDRNOTAVAIL' || syscall === 'getaddrinfo')
    return `HOST is no address of this machine (${code}): set it to 127.0.0.1, to 0.0.0.0 for all IPv4 addresses, or to :: for all.`;
  return error instanceof Error ? (error.stack ?? error.message) : 'The gateway could not start.';
}
