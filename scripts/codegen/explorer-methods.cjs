// explorer/methods.json, from the registry and the golden bodies: what the explorer makes its ready operations of.
const { readFileSync } = require('node:fs');
const path = require('node:path');
const { getNamedType, isLeafType } = require('graphql');
const schema = require('./schema.cjs')();
const { paymentRooms, payoutRooms } = require('../../dist/schema/methods/index.js');

const golden = (type) =>
  JSON.parse(readFileSync(path.join(__dirname, `../../test/methods/golden/${type}.json`), 'utf8'));

const ownFields = (typeName, resource) => {
  const common = schema.getType(resource).getFields();
  return Object.values(schema.getType(typeName).getFields())
    .filter(({ name, type }) => !(name in common) && isLeafType(getNamedType(type)))
    .map(({ name }) => name);
};

const size = ({ method }) => JSON.stringify(method).length;

/** One sample per way to ask for the method; of several the shortest, or the fullest where it can be confirmed. */
function samplesOf(creates, confirmed) {
  const byArm = new Map();
  for (const { input } of creates) {
    const [arm] = Object.keys(input.method);
    const known = byArm.get(arm);
    const isBetter = !known || (confirmed ? size(input) > size(known) : size(input) < size(known));
    if (isBetter) byArm.set(arm, { currency: input.amount.currency, method: input.method });
  }
  return [...byArm.values()].map(({ currency, method }) => ({ currency, method }));
}

const payments = paymentRooms.map((room) => {
  const { create, confirm = [] } = golden(room.type).payment;
  const type = room.payment.name;
  const confirmation = room.confirmation && confirm[0].input.confirmation;
  return {
    type,
    about: room.description,
    fields: ownFields(type, 'PaymentResource'),
    samples: samplesOf(create, confirmation),
    confirmation,
  };
});

const payouts = payoutRooms.map((room) => ({
  type: room.payout.name,
  about: room.description,
  fields: ownFields(room.payout.name, 'PayoutResource'),
  samples: samplesOf(golden(room.type).payout.create),
}));

const plugin = () => `${JSON.stringify({ payments, payouts }, null, 2)}\n`;

module.exports = { plugin };
