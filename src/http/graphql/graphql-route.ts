import type { ApolloServer } from '@apollo/server';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import fastifyCors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { AccessError, type Caller } from '../../auth/caller';
import type { Authenticator } from '../../auth/authenticator';
import type { OperationContext } from '../../resolvers/context';
import type { ContextFactory } from '../../resolvers/context-factory';
import type { Admission, Admitted, AskedOperation } from './admission';
import { readParameters, writeParameters } from './get-parameters';
import type { Connections } from '../server/connections';
import type { SseHandler } from '../subscriptions/sse-handler';
import type { CompiledOperationCache } from '../compiled/compiled-operation-cache';
import { accessRefusal, RequestError } from './http-error';
import { nextEventLoopTurn } from '../../shared/next-turn';
import { isLoopbackHost } from '../server/origin-check';
import { PAGE_HEADERS } from '../server/security-headers';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is asking; null before that is known, and for those who only want to see the page. */
    caller: Caller | null;
  }
}

interface GraphqlRouteOptions {
  /** Must have been started. */
  apollo: ApolloServer<OperationContext>;
  prepared: CompiledOperationCache;
  contextFor: ContextFactory;
  authenticator: Authenticator;
  admission: Admission;
  events: SseHandler;
  corsOrigins: readonly string[];
  /** Whether a browser that opens the address gets a page: anybody may see it. */
  landingPage: boolean;
  /** Throws a Refusal while the process is too late with its work to take on more. */
  checkLoad(): void;
  /** Hears of a caller who is not known. */
  unauthenticated(): void;
  connections: Connections;
}

/** Adds /graphql: who asks and what is asked are checked here, before Apollo sees anything of it. */
export async function addGraphql(app: FastifyInstance, options: GraphqlRouteOptions): Promise<void> {
  await app.register(async (scope) => {
    const { apollo, prepared, contextFor, authenticator, admission, events, corsOrigins } = options;
    const byApollo = fastifyApolloHandler(apollo, {
      context: async ({ id, caller, ip }) => {
        if (!caller) throw accessRefusal(new AccessError('NO_CREDENTIALS', 'Credentials are required.'));
        return contextFor({ requestId: id, caller, ip });
      },
    });
    if (corsOrigins.length > 0) {
      await scope.register(fastifyCors, {
        origin: [...corsOrigins],
        methods: ['GET', 'POST'],
        maxAge: 600,
        exposedHeaders: ['x-request-id', 'retry-after'],
      });
    }
    scope.decorateRequest('caller', null);
    scope.addHook('onRequest', (_request, _reply, done) => void nextEventLoopTurn().then(() => done()));
    scope.addHook('onRequest', (request, reply, done) => {
      // Last come, first refused: what has been taken in is carried on, and the health of the process can still be asked.
      options.checkLoad();
      checkHeaders(request);
      if (authenticator.isOpen && !isLoopbackHost(request.headers.host)) throw NOT_HERE;
      if (options.landingPage && wantsPage(request)) {
        void reply.headers(PAGE_HEADERS);
        return done();
      }
      identify(options, request, done);
    });
    events.add(scope);
    scope.route({
      method: ['GET', 'POST'],
      url: '/graphql',
      handler: async function (request, reply) {
        const { method, caller, id, ip, headers } = request;
        const admitted = caller && (await admit(admission, request, caller));
        if (method !== 'POST' || !admitted) return byApollo.call(this, request, reply) as unknown;
        const answer = await prepared.answer({
          ...admitted,
          accept: headers.accept,
          context: () => contextFor({ requestId: id, caller, ip }),
        });
        if (answer) {
          void reply.type(answer.contentType);
          return answer.body;
        }
        const text = (await byApollo.call(this, request, reply)) as unknown;
        if (reply.statusCode === 200) prepared.learnType(headers.accept, reply.getHeader('content-type'));
        return text;
      },
    });
  });
}

/** A page of another site can reach this machine under a name of its own, and would then count as ours. */
const NOT_HERE = new RequestError({
  status: 403,
  code: 'FORBIDDEN',
  message: 'Without credentials the gateway answers under the names of this machine only, such as localhost.',
});

const BAD_REQUEST = { status: 400, code: 'BAD_REQUEST' } as const;

const isNamed = (text: string, name: string): boolean =>
  text.length === name.length && text.toLowerCase() === name;

/** How often a header was sent. Not request.raw.headersDistinct: it is kept for as long as the request is, which may be a stream's. */
function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let place = 0; place < rawHeaders.length; place += 2)
    if (isNamed(rawHeaders[place] ?? '', name)) count += 1;
  return count;
}

/** Refuses headers that can be understood in two ways. */
function checkHeaders({ raw, url, protocol, hostname }: FastifyRequest): void {
  for (const name of ['Host', 'Authorization']) {
    if (countOf(name.toLowerCase(), raw.rawHeaders) > 1)
      throw new RequestError({ ...BAD_REQUEST, message: `There is more than one ${name} header.` });
  }
  const base = `${protocol}://${hostname}/`;
  if (url === lastRead.url && base === lastRead.base) return;
  if (!URL.canParse(url, base))
    throw new RequestError({ ...BAD_REQUEST, message: 'The address or the Host header cannot be read.' });
  lastRead = { url, base };
}

/** The address that was read last: most requests have the same. */
let lastRead = { url: '', base: '' };

/** Whether a browser asks for the page: Apollo then answers with it, whatever else the request says. */
const wantsPage = ({ method, headers }: FastifyRequest): boolean =>
  method === 'GET' && /^text\/html\b/.test(headers.accept ?? '');

/** Finds out who is asking; at once where a key says it, as waiting costs time too. */
function identify(
  { authenticator, unauthenticated, connections }: GraphqlRouteOptions,
  request: FastifyRequest,
  done: HookHandlerDoneFunction,
): void {
  const refuse = (error: unknown): void => {
    unauthenticated();
    done(error instanceof AccessError ? accessRefusal(error) : (error as Error));
  };
  const take = (caller: Caller): void => {
    request.caller = caller;
    connections.identified(request.raw.socket, caller.id);
    done();
  };
  let identified: Caller | Promise<Caller>;
  try {
    identified = authenticator.identify(request.headers.authorization);
  } catch (error) {
    return refuse(error);
  }
  if (identified instanceof Promise) identified.then(take, refuse);
  else take(identified);
}

/** Lets the operation in, and puts its document in the place of an id; null where none is asked. */
async function admit(
  admission: Admission,
  request: FastifyRequest,
  caller: Caller,
): Promise<Admitted<AskedOperation> | null> {
  const isGet = request.method === 'GET';
  const asked = (isGet ? readParameters(request.url) : request.body) as AskedOperation | null;
  // Anything but an object is refused by Apollo, in the words of the protocol.
  if (typeof asked !== 'object' || asked === null || Array.isArray(asked)) return null;
  const admitted = await admission.admit(asked, caller);
  const { operation } = admitted;
  if (operation === asked) return admitted;
  if (isGet) request.raw.url = `/graphql?${writeParameters(operation)}`;
  else request.body = operation;
  return admitted;
}
