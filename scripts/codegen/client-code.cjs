// Generates the code of the client kit from client/src and the gateway's tables, as TypeScript, ES module, CommonJS or
// declarations. All modules are joined into one file, so they may import only each other.
const { readFileSync } = require('node:fs');
const path = require('node:path');
const { getNamedType, isEnumType } = require('graphql');
const ts = require('typescript');
require('./schema.cjs');
const { PUBLIC_ERROR_CODES } = require('../../dist/http/graphql/error-codes.js');
const { INPUT_RULE_NAMES } = require('../../dist/schema/input-rules.js');
const { VALUE_RULE_NAMES } = require('../../dist/schema/value-rules.js');

const top = path.dirname(require.resolve('../../package.json'));
const sourceOf = (file) => readFileSync(path.join(top, file), 'utf8');

/** Modules of the kit in the order of the generated file. */
const MODULES = ['errors', 'confirmation', 'money', 'type-policies', 'changes-errors', 'changes'];

/** Modules that only others import: their exports are not exports of the kit. */
const INTERNAL_MODULES = ['event-stream', 'gateway-request'];

const unionOf = (words) => [...words].map((word) => `\n  | '${word}'`).join('');

/** Returns the gateway's declaration of `extensions`, under the name that it has in the kit. */
function extensionsType() {
  const text = sourceOf('src/http/graphql/error-codes.ts');
  const file = ts.createSourceFile('codes.ts', text, ts.ScriptTarget.Latest, true);
  const declared = file.statements.find(
    (node) => ts.isInterfaceDeclaration(node) && node.name.text === 'PublicErrorExtensions',
  );
  return declared
    .getText()
    .replaceAll('PublicErrorExtensions', 'GatewayErrorExtensions')
    .replaceAll('PublicErrorCode', 'GatewayErrorCode');
}

/** Returns code for each field of ConfirmationInput: a function of its only value, or the constant input of an enum. */
function confirmations(schema) {
  const entries = Object.values(schema.getType('ConfirmationInput').getFields()).map(({ name, type }) => {
    const input = getNamedType(type);
    const [only, ...others] = isEnumType(input) ? input.getValues() : Object.values(input.getFields());
    if (others.length > 0) throw new Error(`confirmationFor takes one value, but ${input.name} has several.`);
    const filled = isEnumType(input)
      ? `{ ${name}: '${only.name}' }`
      : `(${only.name}) => ({ ${name}: { ${only.name} } })`;
    return `  ${name}: ${filled},`;
  });
  return entries.join('\n');
}

/** Returns the text of client/src/tables.ts. */
const tables = (schema, texts) => `// Made by \`npm run codegen\` from the tables of the gateway; do not edit.
import type { ConfirmationField, ConfirmationInput } from '../index';

/** All values of \`extensions.code\` in errors of the gateway (docs/results.md). */
export type GatewayErrorCode =${unionOf(PUBLIC_ERROR_CODES)};

/**
 * All values of \`rule\` in the \`fields\` of an InvalidInputError, or of a GraphQL error with the code BAD_USER_INPUT or
 * GRAPHQL_VALIDATION_FAILED (docs/results.md).
 */
export type InputRule =${unionOf(new Set([...INPUT_RULE_NAMES, ...VALUE_RULE_NAMES]))};

/** The \`extensions\` of every GraphQL error of the gateway. */
${extensionsType()}

/** ConfirmationInput by its field: a function of the payer's code or UTR, or a constant if no data is needed. */
export const CONFIRMATIONS: Record<
  ConfirmationField,
  ((value: string) => ConfirmationInput) | ConfirmationInput
> = {
${confirmations(schema)}
};
${Object.entries(texts)
  .map(
    ([name, text]) =>
      `\n/** GraphQL document that changes() sends. */\nexport const ${name} = \`${text}\`;\n`,
  )
  .join('')}`;

/** Returns all modules as one text without imports, because everything that they import is in the same text. */
function joined(schema, sent) {
  const [open, internal] = [MODULES, INTERNAL_MODULES].map((names) =>
    names.map((name) => sourceOf(`client/src/${name}.ts`)),
  );
  const texts = [
    tables(schema, sent).replaceAll('export const ', 'const '),
    ...internal.map((text) => text.replace(/^export /gm, '')),
    ...open,
  ];
  return texts
    .map((text) => text.replace(/^(\/\/ Made .*|import [^;]*;)\n/gm, ''))
    .join('\n')
    .trim();
}

const compilerOptions = { target: ts.ScriptTarget.ES2022 };

const emit = (module) => (schema, texts) =>
  ts
    .transpileModule(joined(schema, texts), {
      compilerOptions: { ...compilerOptions, module, removeComments: true },
    })
    .outputText.replace(/^"use strict";\n|^Object.defineProperty\(exports, "__esModule".*\n/gm, '')
    .trim();

const declarations = (schema, texts) =>
  ts
    .transpileDeclaration(joined(schema, texts), {
      fileName: 'kit.ts',
      compilerOptions: { ...compilerOptions, isolatedDeclarations: true, declaration: true },
    })
    .outputText.trim();

module.exports = {
  tables,
  esm: emit(ts.ModuleKind.ES2022),
  cjs: emit(ts.ModuleKind.CommonJS),
  types: declarations,
};
