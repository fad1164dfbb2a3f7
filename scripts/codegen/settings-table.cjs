// Generates docs/configuration.md from the settings in src/config/env-vars.ts.
require('./schema.cjs');
const { SETTINGS } = require('../../dist/config/env-vars.js');

const rows = Object.entries(SETTINGS).map(
  ([name, { description, default: value, whenUnset, parser, isSecret }]) =>
    `| \`${name}\`${isSecret ? ` or \`${name}_FILE\`` : ''} | ${description} | ${parser.expectation} | ${value === undefined ? (whenUnset ?? 'none') : `\`${value}\``} |`,
);

const plugin = () => `# Configuration

Made by \`npm run codegen\` from \`src/config/env-vars.ts\`; do not edit.

The gateway is configured by environment variables. All of them, and the files that they name, are read and checked
at start. If any is invalid, all errors are reported at once with what is expected, nothing is started, and the exit
code is 1. An empty variable counts as not set. A secret may be given in a file instead, by the path in \`…_FILE\`; no value of a secret is ever printed.

| setting | what it does | expected | when not set |
|---|---|---|---|
${rows.join('\n')}

Certificates: the gateway trusts the certificate authorities that Node.js trusts; \`NODE_EXTRA_CA_CERTS\` adds others. The obligations
(\`test/conformance\`) have settings of their own: see \`test/conformance/README.md\`.
`;

module.exports = { plugin };
