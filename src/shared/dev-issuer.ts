/**
 * Issuer of the test tokens that `paygraph dev-token` creates. The setting AUTH_ISSUER may have this value only if the
 * gateway uses the embedded sandbox.
 */
export const DEV_ISSUER = 'paygraph-dev-token';
export const DEV_AUDIENCE = 'paygraph-sandbox';

export const DEV_PRIVATE_KEY_FILE_PATH = 'data/dev-token/private-key.json';
export const DEV_JWKS_FILE_PATH = 'data/dev-token/jwks.json';

/** The path at which the embedded sandbox serves the file DEV_JWKS_FILE_PATH. */
export const DEV_JWKS_URL_PATH = '/.well-known/jwks.json';
