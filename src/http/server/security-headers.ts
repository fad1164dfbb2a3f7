import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet, { type HelmetOptions } from 'helmet';

const NOWHERE = {
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
  objectSrc: ["'none'"],
};

/** Nothing of this gateway may be framed or loaded by others. */
const STRICT = {
  referrerPolicy: { policy: 'no-referrer' },
  xFrameOptions: { action: 'deny' },
} as const;

/** What helmet sets: the same for every answer, so it is asked once. */
function headersBy(options: HelmetOptions): Readonly<Record<string, string>> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet(options)(request, response, () => undefined);
  return { ...response.getHeaders() } as Record<string, string>;
}

/** What browsers are told of every answer. None of them is a page: what says something of pages only is left out. */
export const SAFE_HEADERS = headersBy({
  ...STRICT,
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], ...NOWHERE } },
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** The same for Apollo's page, which says itself, with a new nonce each time, which scripts and frames it needs. */
export const PAGE_HEADERS = headersBy({
  ...STRICT,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: helmet.contentSecurityPolicy.dangerouslyDisableDefaultSrc, ...NOWHERE },
  },
});

/**
 * For the explorer's page, which needs nothing but what this gateway serves. Monaco writes styles into the page, and
 * style attributes into its lines, without a nonce: so styles, and styles alone, may be inline. Nothing is evaluated.
 */
export const EXPLORER_HEADERS = headersBy({
  ...STRICT,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      workerSrc: ["'self'"],
      connectSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      // GraphiQL's style sheet holds its fonts and signs, and the answer of a QR code its picture.
      fontSrc: ['data:'],
      imgSrc: ["'self'", 'data:'],
      ...NOWHERE,
    },
  },
});
