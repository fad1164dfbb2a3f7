import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { textOfFile } from '../../shared/json-text';
import { SANDBOX_CREDENTIALS } from '../../config';
import { lookupQuery } from '../../datasources/payment-service/client';
import { Credentials, type CredentialEvent } from '../../datasources/payment-service/credentials';
import { readCredentialsFile } from '../../datasources/payment-service/credentials-file';
import { RequestFailure, type RawResponse } from '../../datasources/payment-service/http/http-exchange';
import {
  ServiceTransport,
  serviceTime,
  type TransportOptions,
} from '../../datasources/payment-service/http/transport';
import { describeFileError } from '../../shared/hot-reloaded-file';
import { NO_SERVICE, failed, ok, warning, type Check, type Examined, type Finding } from './check';

/** The service refuses timestamps that are older (spec section 5). */
const REFUSED_SKEW_MS = 5 * 60_000;
/** Network and whole seconds of the header are in it; more than this is a clock that nobody sets. */
const NOTABLE_SKEW_MS = 30_000;

/**
 * One signed lookup of a payment that does not exist, for every entry of the credentials: the service has to answer that
 * there is none. One more with credentials that nobody has: it has to be refused, or something else than the service
 * answers there. And by the date of its answers, whether the clocks agree. Nothing is created.
 */
export const credentials: Check = {
  name: 'credentials',
  run: async (examined) => {
    if (examined.config.sandbox) return [NO_SERVICE];
    const switched: CredentialEvent[] = [];
    let entries: Entries;
    try {
      entries = openEntries(examined, (event) => switched.push(event));
    } catch (error) {
      return [
        failed(
          `SERVICE_CREDENTIALS_FILE: ${describeFileError(error)}.`,
          'docs/service-credentials.md says how the file looks; the gateway does not start like this.',
        ),
      ];
    }
    try {
      return await askForAll(entries, examined, switched);
    } finally {
      entries.credentials.close();
    }
  },
};

interface Entries {
  credentials: Credentials;
  /** By the name of the entry, a channel that it is used for. */
  channels: Map<string, string>;
}

function openEntries({ config, channel }: Examined, heard: (event: CredentialEvent) => void): Entries {
  const { apiKey, secretKey, credentialsFile } = config.service;
  // What is not set has the sandbox's value.
  const isSet = apiKey !== SANDBOX_CREDENTIALS.apiKey && secretKey !== SANDBOX_CREDENTIALS.secretKey;
  const settings = isSet ? { apiKey, secretKeys: [secretKey] } : undefined;
  const opened = new Credentials({ file: credentialsFile, settings, heard });
  const channels = new Map<string, string>();
  const ofNobody = channel ?? randomUUID();
  if (opened.of(ofNobody)) channels.set('default', ofNobody);
  for (const each of channelsIn(credentialsFile)) channels.set(`channels.${each}`, each);
  return { credentials: opened, channels };
}

function channelsIn(file: string | null): string[] {
  if (file === null) return [];
  const beside = (named: string): string => textOfFile(readFileSync(path.resolve(path.dirname(file), named)));
  return [...readCredentialsFile(textOfFile(readFileSync(file)), beside).channels.keys()];
}

/** However long SERVICE_TIMEOUT_MS is. */
const ANSWER_MS = 8_000;

/** Many channels are asked for in turns, so that the service is not flooded. */
const AT_ONCE = 8;

async function askForAll(
  { credentials: known, channels }: Entries,
  { config, now }: Examined,
  switched: readonly CredentialEvent[],
): Promise<Finding[]> {
  const { baseUrl, timeoutMs, notFoundStatus } = config.service;
  const options = { baseUrl, timeoutMs: Math.min(timeoutMs, ANSWER_MS), now };
  const transport = new ServiceTransport({ ...options, credentials: known });
  const findings: Finding[] = [];
  let skewMs: number | undefined;
  const ask = async ([entry, channel]: [string, string]): Promise<void> => {
    const query = lookupQuery({ channel, transactionId: randomUUID() });
    try {
      const raw = await transport.send({ channel, path: 'payment/', query }, { lane: 'lookups' });
      const time = serviceTime(raw);
      if (time !== undefined) skewMs ??= now() - time;
      findings.push(judge(entry, raw, notFoundStatus));
    } catch (failure) {
      findings.push(noAnswer(entry, failure));
    }
  };
  const waiting = [...channels];
  while (waiting.length > 0) await Promise.all(waiting.splice(0, AT_ONCE).map(ask));
  // The calls have ended: what is left are connections that nobody uses.
  void transport.close();
  if (findings.every(({ status }) => status === 'ok')) findings.push(...(await askAsNobody(options)));
  return [...findings, ...switched.flatMap(oneKeyOnly), judgeClock(skewMs)];
}

/** Whether it is the service that says that there is no such payment: any web server answers 404 where it has nothing. */
async function askAsNobody(options: Omit<TransportOptions, 'credentials'>): Promise<Finding[]> {
  const transport = new ServiceTransport({ ...options, credentials: Credentials.ofNobody() });
  const channel = randomUUID();
  const query = lookupQuery({ channel, transactionId: randomUUID() });
  const raw = await transport
    .send({ channel, path: 'payment/', query }, { lane: 'lookups' })
    .catch(() => null);
  void transport.close();
  // Without an answer nothing can be said of it; those before had one.
  if (!raw || raw.status === 401) return [];
  return [
    warning(
      `A lookup with an API key that nobody has is answered with ${raw.status}, and not refused (401).`,
      'Check SERVICE_BASE_URL, its path too: something else than the payment service may answer there.',
    ),
  ];
}

function judge(entry: string, { status }: RawResponse, notFoundStatus: number): Finding {
  const of = `A signed lookup with the credentials "${entry}"`;
  if (status === notFoundStatus) return ok(`${of} is accepted (${status}: there is no such payment).`);
  if (status === 401)
    return failed(
      `${of} is refused (401).`,
      'The API key or the secret key is wrong, or not of this service (test and live have different ones); or the clock: see below.',
    );
  if (status >= 400 && status < 500)
    return warning(
      `${of} is answered with ${status}, where ${notFoundStatus} is expected: no such payment.`,
      `Name a channel of yours with --channel. If ${status} is this service's word for it, set SERVICE_NOT_FOUND_STATUS=${status}.`,
    );
  return status >= 500
    ? failed(`${of} is answered with ${status}.`, 'The service is in trouble: ask those who run it.')
    : warning(
        `${of} is answered with ${status}, though there is no such payment.`,
        'Check SERVICE_BASE_URL: something else than the payment service may answer there.',
      );
}

function noAnswer(entry: string, failure: unknown): Finding {
  const word = failure instanceof RequestFailure ? failure.code : 'unknown';
  return failed(
    `A signed lookup with the credentials "${entry}" got no answer (${word}).`,
    'See service name and service connection; after those SERVICE_TIMEOUT_MS.',
  );
}

const oneKeyOnly = (event: CredentialEvent): Finding[] =>
  event.kind === 'switched'
    ? [
        warning(
          `The service accepts secret key ${event.secretKey} of "${event.entry}" and refuses the other.`,
          'If the change of keys is over, take the refused one out of SERVICE_CREDENTIALS_FILE.',
        ),
      ]
    : [];

function judgeClock(skewMs: number | undefined): Finding {
  if (skewMs === undefined)
    return warning(
      'The service does not say what time it is, so the clocks cannot be compared.',
      'See that this machine sets its clock by NTP: timestamps older than 5 minutes are refused.',
    );
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const says = `This clock is ${seconds} s ${skewMs < 0 ? 'behind' : 'ahead of'} the service's.`;
  const mend =
    'Set this clock by NTP (timedatectl, chrony). The service refuses timestamps older than 5 minutes; the gateway then signs by the clock of the service, at the price of a second call.';
  if (Math.abs(skewMs) >= REFUSED_SKEW_MS) return failed(says, mend);
  return Math.abs(skewMs) >= NOTABLE_SKEW_MS
    ? warning(says, mend)
    : ok(`This clock agrees with the service's.`);
}
