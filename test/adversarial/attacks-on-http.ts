import { randomUUID } from 'node:crypto';
import { createInput } from '../support/caller';
import { CLIENT_KEY } from '../support/credentials';
import { Wire, postText } from '../support/wire';
import { DEPARTURES, LEAVES, comeAndLeave, playSlowly, slowClients } from './bad-clients';
import { LOG_BREAKS, faultOfLine, faultsOfHttp } from './assert-safe-response';
import { MALFORMED } from './malformed';
import { OURS, Tries, bearer, type Attack } from './target';

const CREATE = 'mutation ($i: CreatePaymentInput!) { createPayment(input: $i) { __typename } }';
const create = (key: string): string =>
  JSON.stringify({ query: CREATE, variables: { i: createInput('payment', key) } });

const smuggling: Attack = {
  name: 'smuggled and broken requests',
  run: async ({ host, authorization, url, service }) => {
    const tries = new Tries();
    for (const { name, write, statuses, followed } of MALFORMED) {
      const hidden = `hidden-${randomUUID()}`;
      const query = `{ payment(channel: "${OURS}", externalId: "${hidden}") { __typename } }`;
      const headers = [`Host: ${host}`, authorization, 'Connection: close'];
      const smuggled = postText(JSON.stringify({ query }), headers);
      const wire = (await Wire.open(url)).write(write({ host, authorization, smuggled }));
      const [first, second] = await wire.end();
      const isReached = service.requests.some(({ parameters }) => parameters.get('external_id') === hidden);
      tries.add(
        name,
        !statuses.includes(first?.status ?? 0) && `status ${first?.status}`,
        ...(first ? faultsOfHttp(first) : []),
        !followed && isReached && 'the request hidden in it was carried out',
        !followed && second && 'two answers',
      );
    }
    return tries;
  },
};

/** Content types that a page can send without a preflight request, and some that look like JSON. */
const FOREIGN_TYPES = [
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain',
  'text/plain; application/json',
  'application/json-patch+json',
  '',
];

const csrf: Attack = {
  name: 'calls from foreign pages (CSRF)',
  run: async (target) => {
    const tries = new Tries();
    const keys: string[] = [];
    const attempt = async (name: string, write: (body: string) => [RequestInit, search?: string]) => {
      const key = `csrf-${randomUUID()}`;
      keys.push(key);
      const [init, search] = write(create(key));
      const headers = { ...bearer(CLIENT_KEY), origin: 'https://evil.example', ...Object(init.headers) };
      const { body, status } = await target.send({ ...init, headers }, search);
      tries.add(name, (body.includes('"data":{') || status < 400) && `status ${status}`);
    };
    for (const type of FOREIGN_TYPES) {
      const init = { method: 'POST', headers: { 'content-type': type } };
      await attempt(`a POST as ${type}`, (body) => [{ ...init, body }]);
      await attempt(`a form as ${type}`, (body) => [{ ...init, body: `query=${encodeURIComponent(body)}` }]);
    }
    for (const headers of [{}, { 'x-apollo-operation-name': 'a' }])
      await attempt(`a GET with ${JSON.stringify(headers)}`, (body) => {
        const { query, variables } = JSON.parse(body) as { query: string; variables: object };
        const search = new URLSearchParams({ query, variables: JSON.stringify(variables) });
        return [{ headers }, `?${search.toString()}`];
      });
    for (const origin of ['https://evil.example', 'null', 'https://studio.apollographql.com']) {
      const asked = { origin, 'access-control-request-method': 'POST' };
      const { headers } = await target.send({ method: 'OPTIONS', headers: asked });
      tries.add(`a preflight from ${origin}`, headers.has('access-control-allow-origin') && 'was allowed');
    }
    const made = keys.filter((key) => target.service.created(key).length > 0);
    tries.add('the service', made.length > 0 && `made ${made.length} payments`);
    return tries;
  },
};

const logs: Attack = {
  name: 'forged lines in the logs',
  run: async (target) => {
    const tries = new Tries();
    const from = target.program.output().length;
    for (const text of LOG_BREAKS) {
      const input = createInput('payment', randomUUID(), { externalId: text });
      for (const body of [
        { query: '{ __typename }', operationName: text },
        { query: `{ ${text}` },
        { query: CREATE, variables: { i: createInput('payment', text) } },
        { query: CREATE, variables: { i: input } },
        { documentId: text },
      ]) {
        const { status } = await target.post(JSON.stringify(body));
        tries.add(JSON.stringify(text), status >= 500 && `status ${status}`);
      }
    }
    const logged = target.program.output().slice(from);
    for (const line of `${logged}${target.auditText()}`.split('\n').filter((text) => text !== ''))
      tries.add('a line', faultOfLine(line));
    tries.add('the log', logged.includes('FORGED') && 'repeats what was sent');
    return tries;
  },
};

const SLOW_AT_ONCE = 300;

const slowness: Attack = {
  name: 'slow clients',
  run: async (target) => {
    const tries = new Tries();
    const startedAt = performance.now();
    const clients = slowClients(target.authorization);
    const all = Array.from({ length: SLOW_AT_ONCE }, async (_, place) => {
      const client = clients[place % clients.length]!;
      const answers = await playSlowly(target.url, client).catch(() => undefined);
      const bad = answers?.find(({ status }) => ![100, 200, 408].includes(status));
      tries.add(client.name, !answers && 'is still there', bad && `status ${bad.status}`);
    });
    tries.add('another client', await target.serves());
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
    const comeOnce = async (): Promise<void> => {
      const departure = random.one(DEPARTURES);
      const [, leave] = random.one(LEAVES);
      const key = `left-${randomUUID()}`;
      keys.push(key);
      await comeAndLeave(target.url, departure, create(key), { headers: [target.authorization], leave });
    };
    for (let round = 0; round < 50; round += 1) await Promise.all(Array.from({ length: 20 }, comeOnce));
    tries.add('another client', await target.serves());
    for (const key of keys) tries.add(key, target.service.created(key).length > 1 && 'was created twice');
    return tries;
  },
};

export const ATTACKS_ON_HTTP: readonly Attack[] = [smuggling, csrf, logs, slowness, leaving];
