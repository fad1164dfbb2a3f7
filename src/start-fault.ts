import { ConfigError } from './config';

/** Something that ended a start and was put into words already. */
export class StartFault extends Error {}

/** What is wrong at start, in words for the operator; never a value of a setting. */
export function startFault(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StartFault) return error.message;
  const { code, port } = Object.assign({ code: '', port: 0 }, error);
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use: set PORT or SANDBOX_PORT to another, or to 0 for any free one.`;
  return error instanceof Error ? (error.stack ?? error.message) : 'The gateway could not start.';
}
