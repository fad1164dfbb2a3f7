// Hive Gateway's configuration: the supergraph of openapi.json, compiled operations, and a hook that signs.
import path from 'node:path';
import { settings } from './settings.mjs';
import { signed } from './signature.mjs';

const signing = {
  onFetch({ url, options, setOptions }) {
    const data = options.body ?? url.slice(url.indexOf('?') + 1);
    setOptions({ ...options, headers: { ...options.headers, ...signed(data) } });
  },
};

export const gatewayConfig = {
  supergraph: path.join(import.meta.dirname, 'hive-supergraph.graphql'),
  plugins: () => [signing],
  jit: true,
  fork: 1,
  host: '127.0.0.1',
  port: settings.port,
  logging: 'warn',
  graphiql: false,
  landingPage: false,
};
