import { sandboxMethods } from '../schema/methods';
import { errorCode } from '../shared/error-code';
import type { Secret } from '../shared/secret';
import type { SandboxLogger } from './logger';
import { startSandbox, type Sandbox, type SandboxOptions } from './server';

interface EmbeddedOptions extends Pick<SandboxOptions, 'port' | 'control' | 'jwks'> {
  /** Whether to use any free port if `port` is already in use. */
  anyPortIfTaken: boolean;
}

/** Starts the sandbox in this process. */
export async function startEmbeddedSandbox(
  { port, anyPortIfTaken, control, jwks }: EmbeddedOptions,
  credentials: { apiKey: Secret; secretKey: Secret },
  logger: SandboxLogger,
): Promise<Sandbox> {
  const apiKey = credentials.apiKey.reveal();
  const secretKey = credentials.secretKey.reveal();
  const options = { methods: sandboxMethods(), apiKey, secretKey, control, jwks, logger };
  return startSandbox({ ...options, port }).catch((error: unknown) => {
    if (anyPortIfTaken && errorCode(error) === 'EADDRINUSE') return startSandbox({ ...options, port: 0 });
    throw error;
  });
}
