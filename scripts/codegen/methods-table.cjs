// Generates docs/methods.md from the registry: what each input field sends and which fields each type has.
const schema = require('./schema.cjs')();
const { paymentMethods, payoutMethods } = require('../../dist/schema/methods/index.js');
const { serviceFieldSpecsOf } = require('../../dist/schema/lazy-field.js');
const { snakeCase } = require('../../dist/shared/wire-object.js');

const code = (text) => `\`${text}\``;
const list = (texts) => (texts.length > 0 ? texts.map(code).join(', ') : '–');
const row = (cells) => `| ${cells.join(' | ')} |`;

const inputFields = ({ inputType, toWire }) => {
  const fields = Object.values(schema.getType(inputType.name).getFields());
  if (toWire && fields.some(({ name }) => name === 'fields')) return ['type', 'any fields given'];
  return [
    'type',
    ...fields.map(({ name, type }) => snakeCase(name) + (String(type).endsWith('!') ? '' : '?')),
  ];
};

const ownFields = (definition) =>
  serviceFieldSpecsOf(definition.paymentClass.prototype).map(
    ({ fieldName, wireName }) => `${fieldName} ← ${wireName}`,
  );

const confirmFields = ({ confirmation }) =>
  confirmation ? ['id', ...Object.keys(confirmation.toWire({ utr: '', code: '' }))] : [];

function paymentRows() {
  return paymentMethods.map((definition) => {
    const redirect = definition.redirectDescription
      ? `${code(`redirect: ${definition.name}`)} sends ${list(['type'])}`
      : '';
    const direct = definition.input
      ? `${code(definition.inputField)} sends ${list(inputFields(definition.input))}`
      : '';
    return row([
      code(definition.type),
      definition.currency ?? 'any',
      [redirect, direct].filter(Boolean).join('<br>'),
      definition.confirmation
        ? `${code(definition.inputField)} sends ${list(confirmFields(definition))}`
        : '–',
      `${code(definition.paymentClass.name)}: ${list(ownFields(definition))}`,
    ]);
  });
}

function payoutRows() {
  return payoutMethods.map((definition) => {
    const input = definition.typeOnlyDescription
      ? `${code(`typeOnly: ${definition.name}`)} sends ${list(['type'])}`
      : `${code(definition.inputField)} sends ${list(inputFields(definition.input))}`;
    const type = schema.getType(definition.payoutClass.name);
    const common = Object.keys(schema.getType('PayoutResource').getFields());
    const own = Object.keys(type.getFields()).filter((name) => !common.includes(name));
    return row([
      code(definition.type),
      definition.currency ?? 'any',
      input,
      `${code(type.name)}: ${list(own)}`,
    ]);
  });
}

const plugin = () => `# Methods

Made by \`npm run codegen\` from the registry, \`src/schema/methods/registry.ts\`; do not edit. The golden bodies in
\`test/methods/golden\` prove every line against a service over a real socket. A question mark marks fields that are sent only if given.

## Payments (spec 2.5, 4.4, 4.5)

Beside \`payment_method\` every create sends \`channel\`, \`amount\`, \`external_id\` and, when given, \`return_url\`,
\`callback_url\`, \`description\`. Every type also reads \`status\`, \`transaction_id\`, \`amount\`, \`redirect_url\`,
\`create_date\` and \`error\`.

| type | currency | createPayment | confirmPayment | reads back |
|---|---|---|---|---|
${paymentRows().join('\n')}

## Payouts (spec 2.6 to 2.8, 4.2)

Beside \`payout_method\` every create sends \`channel\`, \`amount\`, \`external_id\` and, when given, \`description\`,
\`callback_url\`. Every type also reads \`status\`, \`transaction_id\`, \`external_id\`, \`method\` and \`error\`; the fields
named here are not sent back by the service but come from the create call.

| type | currency | createPayout | shows |
|---|---|---|---|
${payoutRows().join('\n')}
`;

module.exports = { plugin };
