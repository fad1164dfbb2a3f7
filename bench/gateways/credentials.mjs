// API key and secret that the gateways sign with and the service checks.
export const CREDENTIALS = { apiKey: 'bench-api-key-0123456789', secretKey: 'bench-secret-key-0123456789' };

/** Settings of every gateway of the benchmark. */
export const environment = ({ port, serviceUrl }) => ({
  NODE_ENV: 'production',
  PORT: String(port),
  SERVICE_BASE_URL: serviceUrl,
  SERVICE_API_KEY: CREDENTIALS.apiKey,
  SERVICE_SECRET_KEY: CREDENTIALS.secretKey,
});
