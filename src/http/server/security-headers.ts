import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet, { type HelmetOptions } from 'helmet';

/** Directives of every content security policy. */
const ALWAYS_NONE = {
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
  objectSrc: ["'none'"],
};

const COMMON_OPTIONS = {
  referrerPolicy: { policy: 'no-referrer' },
  xFrameOptions: { action: 'deny' },
} as const;

/** Returns the headers that helmet sets. Called once per set of options, because all responses get the same headers. */
function helmetHeaders(options: HelmetOptions): Readonly<Record<string, string>> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet(options)(request, response, () => undefined);
  return { ...response.getHeaders() } as Record<string, string>;
}

/** Headers of every response, unless a page replaces them. Headers that concern pages only are omitted. */
export const DEFAULT_HEADERS = helmetHeaders({
  ...COMMON_OPTIONS,
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], ...ALWAYS_NONE } },
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** Headers of Apollo's landing page, which sets its own policy for scripts and frames, with a nonce. */
export const LANDING_PAGE_HEADERS = helmetHeaders({
  ...COMMON_OPTIONS,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: helmet.contentSecurityPolicy.dangerouslyDisableDefaultSrc, ...ALWAYS_NONE },
  },
});

/** Headers of the explorer, which loads only from this gateway. Monaco needs inline styles without a nonce. */
export const EXPLORER_HEADERS = helmetHeaders({
  ...COMMON_OPTIONS,
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
      ...ALWAYS_NONE,
    },
  },
});
