import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { readTextFile } from '../../shared/json-text';
import { lookupQueryString } from '../../datasources/payment-service/client';
import { Credentials } from '../../datasources/payment-service/credentials';
import { parseCredentialsFile } from '../../datasources/payment-service/credentials-file';
import type { RawResponse } from '../../datasources/payment-service/http/http-exchange';
import { ServiceTransport, dateHeaderMs } from '../../datasources/payment-service/http/transport';
import { describeFileError } from '../../shared/hot-reloaded-file';
import { errorOrCauseCode } from '../../shared/error-code';
import { SANDBOX_SKIP_FINDING, findingOf, type CheckContext, type Finding } from './check';

/** Clock skew in ms from which the check fails: the service rejects timestamps this old (specification section 5). */
const FAIL_FROM_SKEW_MS = 5 * 60_000;
/**
 * Clock skew in ms from which the check warns. A smaller measured skew is no problem: it may come from the latency, and
 * from the Date header, which has whole seconds.
 */
const WARN_FROM_SKEW_MS = 30_000;
/** Maximum timeout of a test lookup in ms, even if SERVICE_TIMEOUT_MS is larger. */
const MAX_LOOKUP_TIMEOUT_MS = 8_000;
const MAX_CONCURRENT_LOOKUPS = 8;

/**
 * Checks that the service accepts the credentials of every entry, by signed lookups of a random payment id. If all are
 * accepted, checks that the service rejects an unknown API key. Compares this machine's clock with the service's Date
 * header.
 */
export async function checkCredentials(context: CheckContext): Promise<Finding[]> {
  if (context.config.sandbox) return [SANDBOX_SKIP_FINDING];
  let lookupPlan: ReturnType<typeof planTestLookups>;
  try {
    lookupPlan = planTestLookups(context);
  } catch (error) {
    return [
      findingOf.failed('credentials_file_invalid', `SERVICE_CREDENTIALS_FILE: ${describeFileError(error)}.`),
    ];
  }
  return checkBySignedLookups(context, lookupPlan).finally(() => lookupPlan.credentials.close());
}

/**
 * Opens the credentials, and chooses the channel of each test lookup. `channelByEntry` in the result maps each entry of
 * the credentials (`default` or `channels.<id>`) to the channel of its lookup.
 */
function planTestLookups({ config, channel }: CheckContext) {
  const { credentialsFile, defaultCredentials } = config.service;
  const credentials = new Credentials({ credentialsFile, defaultCredentials });
  const channelByEntry = new Map<string, string>();
  const channelsWithEntry = readChannelsAndKeyPaths(credentialsFile).channels;
  // A channel with an entry of its own does not use the default credentials.
  const testChannel = channel && !channelsWithEntry.includes(channel.toLowerCase()) ? channel : randomUUID();
  if (credentials.signersFor(testChannel)) channelByEntry.set('default', testChannel);
  for (const channelId of channelsWithEntry) channelByEntry.set(`channels.${channelId}`, channelId);
  return { credentials, channelByEntry };
}

/**
 * Returns the channels in SERVICE_CREDENTIALS_FILE, and the paths of the key files that it names. Returns two empty
 * lists if `filePath` is null, or if one of these files cannot be read or is invalid. checkCredentials() reports such a
 * file.
 */
export function readChannelsAndKeyPaths(filePath: string | null): { channels: string[]; keyPaths: string[] } {
  const keyPaths: string[] = [];
  try {
    if (filePath === null) return { channels: [], keyPaths };
    const { entryByChannel } = parseCredentialsFile(readTextFile(filePath), (relativeKeyPath) => {
      const keyPath = path.resolve(path.dirname(filePath), relativeKeyPath);
      keyPaths.push(keyPath);
      return readTextFile(keyPath);
    });
    return { channels: [...entryByChannel.keys()], keyPaths };
  } catch {
    return { channels: [], keyPaths: [] };
  }
}

async function checkBySignedLookups(
  { config, now }: CheckContext,
  { credentials, channelByEntry }: ReturnType<typeof planTestLookups>,
): Promise<Finding[]> {
  const { baseUrl, timeoutMs, notFoundStatus } = config.service;
  const transportOptions = { baseUrl, timeoutMs: Math.min(timeoutMs, MAX_LOOKUP_TIMEOUT_MS), now };
  const transport = new ServiceTransport({ ...transportOptions, credentials });
  const findings: Finding[] = [];
  let skewMs: number | undefined;
  const checkEntry = async ([entryName, channel]: [string, string]): Promise<void> => {
    try {
      const response = await lookUpUnknownPayment(transport, channel);
      const serviceTimeMs = dateHeaderMs(response);
      if (serviceTimeMs !== undefined) skewMs ??= now() - serviceTimeMs;
      findings.push(findingForHttpStatus(entryName, response.status, notFoundStatus));
    } catch (error) {
      const message = `A signed lookup with the credentials "${entryName}" got no response (${errorOrCauseCode(error)}).`;
      findings.push(findingOf.failed('service_no_response', message));
    }
  };
  const pending = [...channelByEntry];
  while (pending.length > 0) await Promise.all(pending.splice(0, MAX_CONCURRENT_LOOKUPS).map(checkEntry));
  void transport.close();
  if (findings.every(({ status }) => status === 'ok')) {
    const unknownKeyTransport = new ServiceTransport({
      ...transportOptions,
      credentials: Credentials.createRandom(),
    });
    const response = await lookUpUnknownPayment(unknownKeyTransport, randomUUID()).catch(() => null);
    void unknownKeyTransport.close();
    // Any web server can respond "not found". A server that checks API keys rejects an unknown key with 401.
    const message = `A lookup with an unknown API key got the status ${response?.status} instead of 401.`;
    if (response && response.status !== 401)
      findings.push(findingOf.warning('unknown_key_accepted', message));
  }
  return [...findings, checkServiceClock(skewMs)];
}

const lookUpUnknownPayment = (transport: ServiceTransport, channel: string): Promise<RawResponse> => {
  const queryString = lookupQueryString({ channel, transactionId: randomUUID() });
  return transport.send({ channel, apiPath: 'payment/', queryString }, { bulkheadName: 'lookups' });
};

function findingForHttpStatus(entryName: string, status: number, notFoundStatus: number): Finding {
  const subject = `A signed lookup with the credentials "${entryName}"`;
  if (status === notFoundStatus) return findingOf.ok(`${subject} is accepted (${status}: no such payment).`);
  if (status === 401) return findingOf.failed('credentials_rejected', `${subject} is rejected (401).`);
  if (status >= 500) return findingOf.failed('service_error', `${subject} failed with the status ${status}.`);
  const message = `${subject} of a payment that does not exist has the status ${status} instead of ${notFoundStatus}.`;
  return findingOf.warning('unexpected_status', message);
}

function checkServiceClock(skewMs: number | undefined): Finding {
  if (skewMs === undefined)
    return findingOf.warning(
      'clock_skew',
      'The clock of this machine was not compared with that of the service: no response had a Date header.',
    );
  if (Math.abs(skewMs) < WARN_FROM_SKEW_MS)
    return findingOf.ok('The clock of this machine agrees with that of the service.');
  const direction = skewMs < 0 ? 'behind' : 'ahead of';
  const message = `The clock of this machine is ${Math.round(Math.abs(skewMs) / 1000)} s ${direction} that of the service.`;
  const createFinding = Math.abs(skewMs) >= FAIL_FROM_SKEW_MS ? findingOf.failed : findingOf.warning;
  return createFinding('clock_skew', message);
}
