/** Issuer of the test tokens of `paygraph dev-token`. It is allowed as AUTH_ISSUER only with the embedded sandbox. */
export const DEV_ISSUER = 'paygraph-dev-token';
export const DEV_AUDIENCE = 'paygraph-sandbox';

export const DEV_KEY_FILE = 'data/dev-token/private-key.json';
export const DEV_JWKS_FILE = 'data/dev-token/jwks.json';

/** The path at which the embedded sandbox serves DEV_JWKS_FILE. */
export const DEV_JWKS_PATH = '/.well-known/jwks.json';
