// npm run new-method -- <wire_type>: creates a method: its definition, its entry in the registry and its golden bodies.
// Enums, unions, inputs, the sandbox and the tables of the docs are built from these.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

const root = path.resolve(import.meta.dirname, '..');
const type = process.argv[2] ?? '';

function stop(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(type)) {
  stop('Usage: npm run new-method -- <wire_type>, for example: npm run new-method -- pay_now');
}

const kebab = type.replaceAll('_', '-');
const camel = type.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
const pascal = camel.charAt(0).toUpperCase() + camel.slice(1);
const upper = type.toUpperCase();

const definition = `import { InputType, ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import { readVerbatim } from '../../redaction/text';
import { IsText, TextField } from '../rules';
import { ServiceField } from '../lazy-field';
import { defineMethod, maskAllButLastFour } from './method-definition';
import { AccountMaskField } from './wallets';

@InputType({ description: 'A payment by ${pascal}, server-to-server.' })
export class ${pascal}PaymentInput {
  @TextField("The payer's account number.", IsText(64))
  account!: string;
}

@InputType({ description: 'A payout by ${pascal}.' })
export class ${pascal}PayoutInput {
  @TextField("The recipient's account number.", IsText(64))
  accountNumber!: string;
}

@ObjectType({ implements: PaymentResource, description: 'A payment by ${pascal}.' })
export class ${pascal}Payment extends PaymentResource {
  @ServiceField("The payer's account number; null in the redirect flow.", { parse: readVerbatim })
  account?: string;
}

@ObjectType({ implements: PayoutResource, description: 'A payout by ${pascal}.' })
export class ${pascal}Payout extends PayoutResource {
  @AccountMaskField()
  accountMask?: string | null;
}

export const ${camel} = defineMethod('${type}', {
  payment: {
    description: '${pascal}.',
    paymentClass: ${pascal}Payment,
    redirectDescription: 'The payer finishes on the hosted page.',
    input: { inputType: ${pascal}PaymentInput, description: '${pascal}, with the account number.' },
    sandbox: {
      type: '${type}',
      redirectFields: [],
      directFlow: { required: ['account'] },
      echoedFields: ['account'],
    },
  },
  payout: {
    description: '${pascal}.',
    payoutClass: ${pascal}Payout,
    input: { inputType: ${pascal}PayoutInput, description: 'To an account at ${pascal}.' },
    publicDetailsOf: (input: ${pascal}PayoutInput) => ({ accountMask: maskAllButLastFour(input.accountNumber) }),
    sandbox: { type: '${type}', required: ['account_number'] },
  },
});
`;

/** Golden bodies of the new method: those of jazz_cash, which has the same fields as this scaffold, renamed. */
const golden = readFileSync(path.join(root, 'test/methods/golden/jazz_cash.json'), 'utf8')
  .replaceAll('jazz_cash', type)
  .replaceAll('jazzCash', camel)
  .replaceAll('JazzCash', pascal)
  .replaceAll('JAZZ_CASH', upper);

const newFiles = {
  [`src/schema/methods/${kebab}.ts`]: definition,
  [`test/methods/golden/${type}.json`]: golden,
};
for (const file of Object.keys(newFiles)) {
  if (existsSync(path.join(root, file))) stop(`${file} already exists.`);
}
for (const [file, text] of Object.entries(newFiles)) writeFileSync(path.join(root, file), text);

const registry = path.join(root, 'src/schema/methods/registry.ts');
// Inserts the method before `other`, because the fallback for unknown methods has to be last.
const insert = (text, place, line) =>
  place.test(text) ? text.replace(place, line) : stop(`${registry} has no place for ${line}`);
const withImport = insert(
  readFileSync(registry, 'utf8'),
  /(?=import \{ other \})/,
  `import { ${camel} } from './${kebab}';\n`,
);
writeFileSync(registry, insert(withImport, /(?= {2}other,\n)/, `  ${camel},\n`));

process.stdout.write(`Created:
${Object.keys(newFiles)
  .map((file) => `  ${file}\n`)
  .join('')}  an import and an entry in src/schema/methods/registry.ts

Now change the definition and the golden bodies to what the specification says, and delete the half (payment or payout)
that the method does not have. Then add test inputs (docs/adding-a-method.md), and: npm run format && npm run codegen && npm run check
`);
