import type { ApolloServer } from '@apollo/server';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import fastifyCors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AccessError, type Caller } from '../access/caller';
import type { Authenticator } from '../access/authenticator';
import type { OperationContext } from '../resolvers/context';
import type { ContextFactory } from '../resolvers/context-factory';
import type { Admission, AskedOperation } from './admission';
import { readParameters, writeParameters } from './get-parameters';
import type { EventStreams } from './live/event-streams';
import { accessRefusal, overloaded, Refusal } from './refusal';
import { isHostHere } from './own-origin';
import { PAGE_HEADERS } from './safe-headers';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is asking; null before that is known, and for those who only want to see the page. */
    caller: Caller | null;
  }
}

interface GraphqlRouteOptions {
  /** Must have been started. */
  apollo: ApolloServer<OperationContext>;
  contextFor: ContextFactory;
  authenticator: Authenticator;
  admission: Admission;
  events: EventStreams;
  corsOrigins: readonly string[];
  /** Whether a browser that opens the address gets a page: anybody may see it. */
  landingPage: boolean;
}

/** Adds /graphql: who asks and what is asked are checked here, before Apollo sees anything of it. */
export async function addGraphql(app: FastifyInstance, options: GraphqlRouteOptions): Promise<void> {
  await app.register(async (scope) => {
    const { apollo, contextFor, authenticator, admission, events, corsOrigins } = options;
    if (corsOrigins.length > 0) {
      await scope.register(fastifyCors, {
        origin: [...corsOrigins],
        methods: ['GET', 'POST'],
        maxAge: 600,
        exposedHeaders: ['x-request-id', 'retry-after'],
      });
    }
    // Last come, first refused: what has been taken in is carried on, and the health of the process can still be asked.
    scope.addHook('onRequest', async () => {
      if (scope.isUnderPressure()) throw overloaded();
    });
    scope.decorateRequest('caller', null);
    scope.addHook('onRequest', async (request) => {
      checkHeaders(request);
      if (authenticator.isOpen && !isHostHere(request.headers.host)) throw NOT_HERE;
      if (options.landingPage && wantsPage(request)) return;
      request.caller = await identify(authenticator, request.headers.authorization);
    });
    events.add(scope);
    scope.route({
      method: ['GET', 'POST'],
      url: '/graphql',
      preHandler: async (request) => {
        if (request.caller) await admit(admission, request, request.caller);
      },
      ...(options.landingPage && { helmet: PAGE_HEADERS }),
      handler: fastifyApolloHandler(apollo, {
        context: async ({ id, caller, ip }) => {
          if (!caller) throw accessRefusal(new AccessError('NO_CREDENTIALS', 'Credentials are required.'));
          return contextFor({ requestId: id, caller, ip });
        },
      }),
    });
  });
}

/** A page of another site can reach this machine under a name of its own, and would then count as ours. */
const NOT_HERE = new Refusal({
  status: 403,
  code: 'FORBIDDEN',
  message: 'Without credentials the gateway answers under the names of this machine only, such as localhost.',
});

const BAD_REQUEST = { status: 400, code: 'BAD_REQUEST' };

const isNamed = (text: string, name: string): boolean =>
  text.length === name.length && text.toLowerCase() === name.toLowerCase();

/** Refuses headers that can be understood in two ways. */
function checkHeaders(request: FastifyRequest): void {
  for (const name of ['Host', 'Authorization']) {
    // Not request.raw.headersDistinct: it is kept for as long as the request is, which may be a stream's.
    const given = request.raw.rawHeaders.filter((text, place) => place % 2 === 0 && isNamed(text, name));
    if (given.length > 1)
      throw new Refusal({ ...BAD_REQUEST, message: `There is more than one ${name} header.` });
  }
  if (!URL.canParse(request.url, `${request.protocol}://${request.hostname}/`))
    throw new Refusal({ ...BAD_REQUEST, message: 'The address or the Host header cannot be read.' });
}

/** Whether a browser asks for the page: Apollo then answers with it, whatever else the request says. */
const wantsPage = ({ method, headers }: FastifyRequest): boolean =>
  method === 'GET' && /^text\/html\b/.test(headers.accept ?? '');

const identify = (authenticator: Authenticator, authorization: string | undefined): Promise<Caller> =>
  authenticator.identify(authorization).catch((error: unknown) => {
    throw error instanceof AccessError ? accessRefusal(error) : error;
  });

/** Lets the operation in, and puts the document in the place of its id. */
async function admit(admission: Admission, request: FastifyRequest, caller: Caller): Promise<void> {
  const isGet = request.method === 'GET';
  const asked = (isGet ? readParameters(request.url) : request.body) as AskedOperation | null;
  // Anything but an object is refused by Apollo, in the words of the protocol.
  if (typeof asked !== 'object' || asked === null || Array.isArray(asked)) return;
  const admitted = await admission.admit(asked, caller);
  if (admitted === asked) return;
  if (isGet) request.raw.url = `/graphql?${writeParameters(admitted)}`;
  else request.body = admitted;
}
