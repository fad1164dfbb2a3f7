import { isLoopback } from '../../shared/loopback';

/** Whether a Host header names this machine. */
export const isLoopbackHost = (host: string | undefined): boolean =>
  host !== undefined && URL.canParse(`http://${host}`) && isLoopback(new URL(`http://${host}`).hostname);

/** Whether a page of this origin was loaded from the host that it now talks to, however either is written. */
export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  const address = `${protocol}//${host}`;
  return originHost !== '' && URL.canParse(address) && new URL(address).host === originHost;
}
