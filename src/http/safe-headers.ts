import fastifyHelmet, { type FastifyHelmetOptions } from '@fastify/helmet';

const NOWHERE = {
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
  objectSrc: ["'none'"],
};

/** What browsers are told of every answer: it is no page, and nothing of it may be framed or loaded by others. */
export const SAFE_HEADERS: FastifyHelmetOptions = {
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], ...NOWHERE } },
  referrerPolicy: { policy: 'no-referrer' },
  xFrameOptions: { action: 'deny' },
};

/** The same for Apollo's page, which says itself, with a new nonce each time, which scripts and frames it needs. */
export const PAGE_HEADERS: FastifyHelmetOptions = {
  ...SAFE_HEADERS,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: fastifyHelmet.contentSecurityPolicy.dangerouslyDisableDefaultSrc, ...NOWHERE },
  },
};
