import { randomUUID } from 'node:crypto';
import { createInput } from '../exactly-once/support/caller';
import { CLIENT_KEY } from '../support/credentials';
import { Tries, type Attack } from './attack';
import { DEPARTURES, LEAVES, comeAndLeave } from './departures';
import { faultsOfHttp } from './judge';
import { LOG_BREAKS, faultOfLine } from './log-breaks';
import { MALFORMED } from './malformed';
import { SLOW_CLIENTS, playSlowly } from './slow-clients';
import { OURS, bearer, type Target } from './target';
import { Wire, postText } from './wire';

const CREATE = 'mutation ($i: CreatePaymentInput!) { createPayment(input: $i) { __typename } }';
const create = (key: string): string =>
  JSON.stringify({ query: CREATE, variables: { i: createInput('payment', key) } });

const wasLookedUp = ({ service }: Target, externalId: string): boolean =>
  service.seen.some(({ query }) => query.get('external_id') === externalId);

/** A whole lookup of that external id, after which the connection ends. */
function lookup({ host, authorization }: Target, externalId: string): string {
  const query = `{ payment(channel: "${OURS}", externalId: "${externalId}") { __typename } }`;
  return postText(JSON.stringify({ query }), [`Host: ${host}`, authorization, 'Connection: close']);
}

const smuggling: Attack = {
  name: 'smuggled and broken requests',
  run: async (target) => {
    const tries = new Tries();
    const { host, authorization } = target;
    for (const { name, write, statuses, followed } of MALFORMED) {
      const hidden = `hidden-${randomUUID()}`;
      const wire = await Wire.open(target.url);
      const [first, second] = await wire
        .write(write({ host, authorization, smuggled: lookup(target, hidden) }))
        .end();
      tries.add(name, [
        statuses.includes(first?.status ?? 0) ? undefined : `status ${first?.status}`,
        ...(first ? faultsOfHttp(first) : []),
        !followed && wasLookedUp(target, hidden) ? 'the request hidden in it was carried out' : undefined,
        !followed && second ? 'two answers' : undefined,
      ]);
    }
    return tries;
  },
};

const FORGERY_HEADERS: Record<string, string>[] = [
  { 'content-type': 'application/x-www-form-urlencoded' },
  { 'content-type': 'multipart/form-data; boundary=x' },
  { 'content-type': 'text/plain' },
  { 'content-type': 'text/plain; application/json' },
  { 'content-type': 'application/json-patch+json' },
  { 'content-type': '' },
];

const csrf: Attack = {
  name: 'calls from foreign pages (CSRF)',
  run: async (target) => {
    const tries = new Tries();
    const keys: string[] = [];
    const attempt = async (
      name: string,
      send: (body: string) => Promise<{ status: number; body: string }>,
    ) => {
      const key = `csrf-${randomUUID()}`;
      keys.push(key);
      const { body, status } = await send(create(key));
      tries.add(name, [body.includes('"data":{') || status < 400 ? `status ${status}` : undefined]);
    };
    for (const headers of FORGERY_HEADERS) {
      const all = { ...headers, ...bearer(CLIENT_KEY), origin: 'https://evil.example' };
      await attempt(`a POST as ${headers['content-type']}`, (body) =>
        target.send({ method: 'POST', body, headers: all }),
      );
      await attempt(`a form as ${headers['content-type']}`, (body) =>
        target.send({ method: 'POST', body: `query=${encodeURIComponent(body)}`, headers: all }),
      );
    }
    await attempt('a GET', (body) => {
      const { query, variables } = JSON.parse(body) as { query: string; variables: object };
      const search = new URLSearchParams({ query, variables: JSON.stringify(variables) });
      return target.send({ headers: bearer(CLIENT_KEY) }, `?${search.toString()}`);
    });
    await attempt('a GET that says it is no page', (body) => {
      const { query, variables } = JSON.parse(body) as { query: string; variables: object };
      const search = new URLSearchParams({ query, variables: JSON.stringify(variables) });
      return target.send(
        { headers: { ...bearer(CLIENT_KEY), 'x-apollo-operation-name': 'a' } },
        `?${search.toString()}`,
      );
    });
    for (const origin of ['https://evil.example', 'null', 'https://studio.apollographql.com']) {
      const { headers } = await target.send({
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
      tries.add(`a preflight from ${origin}`, [
        headers.has('access-control-allow-origin') ? 'was allowed' : undefined,
      ]);
    }
    const made = keys.filter((key) => target.service.created(key).length > 0);
    tries.add('the service', [made.length > 0 ? `made ${made.length} payments` : undefined]);
    return tries;
  },
};

const logs: Attack = {
  name: 'forged lines in the logs',
  run: async (target) => {
    const tries = new Tries();
    const from = target.logLines().length;
    for (const [name, text] of LOG_BREAKS) {
      const bodies = [
        JSON.stringify({ query: '{ __typename }', operationName: text }),
        JSON.stringify({ query: `{ ${text}` }),
        JSON.stringify({ query: CREATE, variables: { i: createInput('payment', text) } }),
        JSON.stringify({
          query: CREATE,
          variables: { i: createInput('payment', randomUUID(), { externalId: text }) },
        }),
        JSON.stringify({ documentId: text }),
      ];
      for (const body of bodies) {
        const { status } = await target.post(body);
        tries.add(name, [status >= 500 ? `status ${status}` : undefined]);
      }
    }
    const lines = [...target.logLines().slice(from), ...target.auditText().split('\n').slice(0, -1)];
    const bad = lines.flatMap((line) => faultOfLine(line) ?? []);
    if (bad.length > 0) tries.through.push(`${bad.length} lines with ${bad[0]}`);
    const forged = target.logLines().filter((line) => line.includes('FORGED'));
    if (forged.length > 0) tries.through.push(`${forged.length} lines of the log repeat what was sent`);
    return tries;
  },
};

const SLOW_AT_ONCE = 300;

const slowness: Attack = {
  name: 'slow clients',
  run: async (target) => {
    const tries = new Tries();
    const startedAt = performance.now();
    const all = Array.from({ length: SLOW_AT_ONCE }, async (_, place) => {
      const client = SLOW_CLIENTS[place % SLOW_CLIENTS.length]!;
      const answers = await playSlowly(target.url, client, target.authorization).catch(() => undefined);
      const bad = answers?.find(({ status }) => ![100, 200, 408].includes(status));
      tries.add(client.name, [answers ? undefined : 'is still there', bad && `status ${bad.status}`]);
    });
    const { status } = await target.ask('{ __typename }');
    if (status !== 200) tries.through.push(`others were refused with ${status}`);
    await Promise.all(all);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    return Object.assign(tries, { note: `${SLOW_AT_ONCE} at once, all gone after ${seconds} s` });
  },
};

const leaving: Attack = {
  name: 'clients that leave half way',
  run: async (target, { random }) => {
    const tries = new Tries();
    const keys: string[] = [];
    for (let round = 0; round < 50; round += 1) {
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          const departure = random.one(DEPARTURES);
          const [, leave] = random.one(LEAVES);
          const key = `left-${randomUUID()}`;
          keys.push(key);
          await comeAndLeave(target.url, departure, create(key), { headers: [target.authorization], leave });
          tries.add(departure.name, []);
        }),
      );
    }
    const { status } = await target.ask('{ __typename }');
    if (status !== 200) tries.through.push(`others were refused with ${status}`);
    const twice = keys.filter((key) => target.service.created(key).length > 1);
    if (twice.length > 0) tries.through.push(`${twice.length} payments were made twice`);
    return tries;
  },
};

export const ATTACKS_ON_HTTP: readonly Attack[] = [smuggling, csrf, logs, slowness, leaving];
