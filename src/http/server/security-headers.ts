import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet, { type HelmetOptions } from 'helmet';

const NOWHERE = {
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
  objectSrc: ["'none'"],
};

const STRICT = {
  referrerPolicy: { policy: 'no-referrer' },
  xFrameOptions: { action: 'deny' },
} as const;

/** The headers that helmet sets, computed once because they are the same for every response. */
function headersBy(options: HelmetOptions): Readonly<Record<string, string>> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet(options)(request, response, () => undefined);
  return { ...response.getHeaders() } as Record<string, string>;
}

/** For responses that are no pages: without the headers that concern pages only. */
export const SAFE_HEADERS = headersBy({
  ...STRICT,
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], ...NOWHERE } },
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** For Apollo's page, which has its own policy for scripts and frames, with a nonce. */
export const PAGE_HEADERS = headersBy({
  ...STRICT,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: helmet.contentSecurityPolicy.dangerouslyDisableDefaultSrc, ...NOWHERE },
  },
});

/** For the explorer, which loads from this gateway only. Monaco needs inline styles without a nonce. */
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
      // GraphiQL's style sheet embeds fonts and icons; QR codes are embedded images.
      fontSrc: ['data:'],
      imgSrc: ["'self'", 'data:'],
      ...NOWHERE,
    },
  },
});
