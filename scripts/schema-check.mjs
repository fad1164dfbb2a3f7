// npm run schema-check [-- --release]: compares schema.graphql with the released SDL. docs/api-stability.md has the rules.
// Exit codes: 0 compatible, 1 an incompatible change or a lint error, 2 the check failed.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { diff, DiffRule } from '@graphql-inspector/core';
import { buildSchema, validateSchema } from 'graphql';
import { lintSchema } from './schema-lint.mjs';
import { readOptions } from './options.mjs';

const CURRENT = 'schema.graphql';
const RELEASED = 'api/released.graphql';
const PROMISES = path.join(import.meta.dirname, '../docs/api-stability.md');

const ADVICE = `Instead, keep the old part of the schema, deprecate it with a reason, and add the new part beside it.
For a major release: npm run schema-check -- --release`;

/** Returns the names in the first column of the table "What may grow" of docs/api-stability.md. */
function readNamesThatMayGrow() {
  const [, section = ''] = /^## What may grow$(.*?)^## /ms.exec(readFileSync(PROMISES, 'utf8')) ?? [];
  const cells = [...section.matchAll(/^\|([^|]*`[^|]*)\|/gm)].map(([, cell]) => cell);
  return new Set(cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name)));
}

const interfacesOf = (schema, name) => schema.getType(name).getInterfaces?.() ?? [];

/** Whether a new union member implements the interfaces that all others share, on which clients have fragments. */
function implementsSharedInterfaces(schema, { unionName, addedUnionMemberTypeName: added }) {
  const [first = [], ...others] = schema
    .getType(unionName)
    .getTypes()
    .filter(({ name }) => name !== added)
    .map(({ name }) => interfacesOf(schema, name))
    .filter(({ length }) => length > 0);
  const shared = first.filter((each) => others.every((interfaces) => interfaces.includes(each)));
  return shared.every((each) => interfacesOf(schema, added).includes(each));
}

/** Whether docs/api-stability.md allows such a change. */
function isAllowed({ type, meta }, schema, mayGrow) {
  if (type === 'FIELD_ARGUMENT_ADDED') return true;
  if (type === 'UNION_MEMBER_ADDED')
    return mayGrow.has(meta.unionName) && implementsSharedInterfaces(schema, meta);
  if (type === 'ENUM_VALUE_ADDED') return mayGrow.has(meta.enumName);
  return type === 'OBJECT_TYPE_INTERFACE_ADDED' && mayGrow.has(meta.addedInterfaceName);
}

function read(file) {
  const schema = buildSchema(readFileSync(file, 'utf8'));
  const [fault] = validateSchema(schema);
  if (fault) throw new Error(`${file}: ${fault.message}`);
  return schema;
}

async function changes() {
  const [released, current] = [read(RELEASED), read(CURRENT)];
  const mayGrow = readNamesThatMayGrow();
  const all = await diff(released, current, [DiffRule.ignoreDescriptionChanges, DiffRule.simplifyChanges]);
  const dangerous = all.filter(({ criticality }) => criticality.level === 'DANGEROUS');
  const promised = dangerous.filter((change) => isAllowed(change, current, mayGrow));
  const broken = all.filter(({ criticality }) => criticality.level === 'BREAKING');
  return {
    breaking: [...broken, ...dangerous.filter((change) => !promised.includes(change))],
    promised,
    lacks: lintSchema(current),
    count: all.length,
  };
}

function list(title, lines) {
  if (lines.length > 0) console.log(`${title}\n${lines.map((line) => `  ${line}`).join('\n')}`);
}

const lineOf = ({ path: place, message }) => `${place}: ${message}.`;

async function main() {
  const { release } = readOptions({ options: { release: { type: 'boolean', default: false } } }).values;
  const { breaking, promised, lacks, count } = await changes();
  list('Allowed additions (docs/api-stability.md):', promised.map(lineOf));
  list('Changes that break clients:', breaking.map(lineOf));
  list('Lint errors of schema.graphql:', lacks);
  if (lacks.length > 0) return 1;
  if (release) {
    writeFileSync(RELEASED, readFileSync(CURRENT));
    console.log(`Copied ${CURRENT} to ${RELEASED}: a ${breaking.length > 0 ? 'major' : 'minor'} release.`);
    return 0;
  }
  console.log(breaking.length > 0 ? ADVICE : `${count} changes, none of which breaks clients.`);
  return breaking.length > 0 ? 1 : 0;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    console.error(`The schema cannot be checked: ${error.message}`);
    process.exitCode = 2;
  },
);
