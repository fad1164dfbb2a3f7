import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet, { type HelmetOptions } from 'helmet';

type PolicyDirectives = NonNullable<Exclude<HelmetOptions['contentSecurityPolicy'], boolean>>['directives'];

/**
 * Returns the headers that helmet sets with a content security policy. Called only when this module is loaded, so that
 * no request has to run helmet.
 */
function helmetHeaders(directives: PolicyDirectives, helmetOptions: object = {}): Record<string, string> {
  const none = ["'none'"];
  const commonDirectives = { baseUri: none, formAction: none, frameAncestors: none, objectSrc: none };
  const setHeaders = helmet({
    ...helmetOptions,
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
    contentSecurityPolicy: { useDefaults: false, directives: { ...directives, ...commonDirectives } },
  });
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  setHeaders(request, response, () => undefined);
  return { ...response.getHeaders() } as Record<string, string>;
}

/** Default headers of every response. The options that are false omit headers that matter only for pages. */
export const DEFAULT_HEADERS = helmetHeaders(
  { defaultSrc: ["'none'"] },
  {
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  },
);

/** Headers of Apollo's landing page. The page itself sets a policy for scripts and frames. */
export const LANDING_PAGE_HEADERS = helmetHeaders({
  defaultSrc: helmet.contentSecurityPolicy.dangerouslyDisableDefaultSrc,
});

/** Headers of the explorer, which loads only from this gateway. The editor needs inline styles without a nonce. */
export const EXPLORER_HEADERS = helmetHeaders({
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  workerSrc: ["'self'"],
  connectSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  // GraphiQL's style sheet embeds fonts and icons; QR codes are embedded images.
  fontSrc: ['data:'],
  imgSrc: ["'self'", 'data:'],
});
