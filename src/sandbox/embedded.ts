import { sandboxMethods } from '../schema/methods';
import type { SandboxLogger } from './logger';
import { startSandbox, type Sandbox } from './server';

interface EmbeddedOptions {
  port: number;
  /** Whether another port may be taken when that one is in use. */
  anyPortIfTaken: boolean;
  control: boolean;
  /** A key set (JWKS) that is served, and the path that it is served at. */
  jwks?: { file: string; path: string };
}

interface Credentials {
  apiKey: { reveal(): string };
  secretKey: { reveal(): string };
}

/** Starts the sandbox beside the gateway, on loopback. */
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
    const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    if (taken && anyPortIfTaken) return start(0);
    throw error;
  });
}
