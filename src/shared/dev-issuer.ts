/**
 * The issuer of `paygraph dev-token`, for trying scopes, ownership and expiry with the embedded sandbox. A gateway with
 * SERVICE_BASE_URL refuses AUTH_ISSUER of this name, and tokens of any other issuer are never made by the command.
 */
export const DEV_ISSUER = 'paygraph-dev-token';
export const DEV_AUDIENCE = 'paygraph-sandbox';

/** Files with the private key of the command and its public half. */
export const DEV_KEY_FILE = 'data/dev-token/private-key.json';
export const DEV_JWKS_FILE = 'data/dev-token/jwks.json';

/** The path under which the embedded sandbox serves DEV_JWKS_FILE. */
export const DEV_JWKS_PATH = '/.well-known/jwks.json';
