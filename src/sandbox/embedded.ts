import { sandboxMethods } from '../schema/methods';
import { errorCode } from '../shared/error-code';
import type { SandboxLogger } from './logger';
import { startSandbox, type Sandbox } from './server';

interface EmbeddedOptions {
  port: number;
  /** Whether to use any free port if `port` is in use. */
  anyPortIfTaken: boolean;
  control: boolean;
  /** A key set (JWKS) and the path at which it is served. */
  jwks?: { file: string; path: string };
}

interface Credentials {
  apiKey: { reveal(): string };
  secretKey: { reveal(): string };
}

/** Starts the sandbox in this process. It listens on 127.0.0.1. */
export async function startEmbeddedSandbox(
  { port, anyPortIfTaken, control, jwks }: EmbeddedOptions,
  { apiKey, secretKey }: Credentials,
  logger: SandboxLogger,
): Promise<Sandbox> {
  const start = (onPort: number): Promise<Sandbox> =>
    startSandbox({
      methods: sandboxMethods(),
      host: '127.0.0.1',
      port: onPort,
      apiKey: apiKey.reveal(),
      secretKey: secretKey.reveal(),
      control,
      jwks,
      logger,
    });
  return start(port).catch((error: unknown) => {
    if (anyPortIfTaken && errorCode(error) === 'EADDRINUSE') return start(0);
    throw error;
  });
}
