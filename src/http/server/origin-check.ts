import { isLoopback } from '../../shared/loopback';

/** Whether a Host header names this machine. Pages of other sites may reach it under other names (DNS rebinding). */
export const isLoopbackHost = (host: string | undefined): boolean =>
  host !== undefined && URL.canParse(`http://${host}`) && isLoopback(new URL(`http://${host}`).hostname);

/** Whether an Origin header names the host of the request. */
export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  const address = `${protocol}//${host}`;
  return originHost !== '' && URL.canParse(address) && new URL(address).host === originHost;
}
