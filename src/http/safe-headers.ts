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

/**
 * The same as they are sent. For streams, which last: what helmet sets one by one is kept for as long as the response is.
 * A test compares them with those of other answers.
 */
export const SAFE_HEADER_FIELDS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none';object-src 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'DENY',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
};

/** The same for Apollo's page, which says itself, with a new nonce each time, which scripts and frames it needs. */
export const PAGE_HEADERS: FastifyHelmetOptions = {
  ...SAFE_HEADERS,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: fastifyHelmet.contentSecurityPolicy.dangerouslyDisableDefaultSrc, ...NOWHERE },
  },
};
