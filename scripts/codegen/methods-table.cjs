// docs/methods.md, from the registry: what each arm sends and what each type reads back.
const schema = require('./schema.cjs')();
const { paymentRooms, payoutRooms } = require('../../dist/schema/methods/index.js');
const { serviceFieldsOf } = require('../../dist/schema/lazy-field.js');
const { snakeCase } = require('../../dist/shared/wire-object.js');

const code = (text) => `\`${text}\``;
const list = (texts) => (texts.length > 0 ? texts.map(code).join(', ') : '–');
const row = (cells) => `| ${cells.join(' | ')} |`;

const inputFields = ({ input, toWire }) => {
  const fields = Object.values(schema.getType(input.name).getFields());
  if (toWire && fields.some(({ name }) => name === 'fields')) return ['type', 'any fields given'];
  return [
    'type',
    ...fields.map(({ name, type }) => snakeCase(name) + (String(type).endsWith('!') ? '' : '?')),
  ];
};

const ownFields = (room) =>
  serviceFieldsOf(room.payment.prototype).map(({ name, wireName }) => `${name} ← ${wireName}`);

const confirmFields = ({ confirmation }) =>
  confirmation ? ['id', ...Object.keys(confirmation.toWire({ utr: '', code: '' }))] : [];

function paymentRows() {
  return paymentRooms.map((room) => {
    const redirect = room.redirect ? `${code(`redirect: ${room.name}`)} sends ${list(['type'])}` : '';
    const direct = room.input ? `${code(room.input.arm)} sends ${list(inputFields(room.input))}` : '';
    return row([
      code(room.type),
      room.currency ?? 'any',
      [redirect, direct].filter(Boolean).join('<br>'),
      room.confirmation ? `${code(room.confirmation.arm)} sends ${list(confirmFields(room))}` : '–',
      `${code(room.payment.name)}: ${list(ownFields(room))}`,
    ]);
  });
}

function payoutRows() {
  return payoutRooms.map((room) => {
    const arm = room.typeOnly
      ? `${code(`typeOnly: ${room.name}`)} sends ${list(['type'])}`
      : `${code(room.input.arm)} sends ${list(inputFields(room.input))}`;
    const type = schema.getType(room.payout.name);
    const common = Object.keys(schema.getType('PayoutResource').getFields());
    const own = Object.keys(type.getFields()).filter((name) => !common.includes(name));
    return row([code(room.type), room.currency ?? 'any', arm, `${code(type.name)}: ${list(own)}`]);
  });
}

const plugin = () => `# Methods

Made by \`npm run codegen\` from the registry, \`src/schema/methods/index.ts\`; do not edit. The golden bodies in
\`test/methods/golden\` prove every line against a service over a real socket. A question mark: sent when given.

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
