// Generates the client kit (documents and code) as ES module (`format: esm`), CommonJS (`cjs`) or declarations
// (`types`), or only the gateway's tables that its code reads (`tables`). Each fragment occurs once, and bundlers leave
// out unused exports.
const { Kind, print, visit } = require('graphql');
const code = require('./client-code.cjs');

const HEAD = '// Made by `npm run codegen` from client/operations and client/src; do not edit.';

const EXPORTS = {
  esm: (name, value) => `export const ${name} = ${value};`,
  cjs: (name, value) => `const ${name} = (exports.${name} = ${value});`,
};

const upperFirst = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const isFragment = ({ kind }) => kind === Kind.FRAGMENT_DEFINITION;

/** Returns the fragments that a definition spreads, directly or through others, each once and in a fixed order. */
function fragmentsOf(definition, byName, found = new Set()) {
  visit(definition, {
    FragmentSpread: ({ name: { value } }) => {
      if (found.has(value)) return;
      found.add(value);
      fragmentsOf(byName.get(value), byName, found);
    },
  });
  return [...found];
}

/** Returns a definition as a JavaScript literal, without source locations and empty lists. */
const literal = (definition) =>
  JSON.stringify(definition, (key, value) =>
    key === 'loc' || (Array.isArray(value) && value.length === 0) ? undefined : value,
  );

/** Returns every operation and fragment with the name of its document and the names of its fragments. */
function documentsOf(files) {
  const definitions = files.flatMap(({ document }) => document.definitions);
  const byName = new Map(definitions.filter(isFragment).map((node) => [node.name.value, node]));
  const documents = definitions.map((node) => ({
    node,
    name: `${node.name.value}Document`,
    fragments: fragmentsOf(node, byName).filter((name) => name !== node.name.value),
  }));
  return { documents, byName };
}

/** Returns the names of the types that typescript-operations generates for an operation or a fragment. */
function typesOf({ kind, operation, name: { value } }) {
  if (kind === Kind.FRAGMENT_DEFINITION) return [`${value}Fragment`, 'unknown'];
  const result = `${value}${upperFirst(operation)}`;
  return [result, `${result}Variables`];
}

const TYPES_IMPORT = "import type { TypedDocumentNode } from '@graphql-typed-document-node/core';";

/** Returns the text of an operation with its fragments, as `npm run persist -- --client plain` writes it. */
function textOf({ documents, byName }, operation) {
  const { node, fragments } = documents.find(({ name }) => name === `${operation}Document`);
  return [node, ...fragments.toSorted().map((name) => byName.get(name))].map(print).join('\n\n');
}

/** Returns the texts of the operations that the kit's code sends, by the name of their constant. */
const sentTexts = (files) => ({
  CHANGES_QUERY: textOf(files, 'Changes'),
  CHANGES_SUBSCRIPTION: textOf(files, 'WatchChanges'),
});

function types(files, schema) {
  const { documents } = files;
  const declared = documents.map(
    ({ node, name }) => `export declare const ${name}: TypedDocumentNode<${typesOf(node).join(', ')}>;`,
  );
  const possibleTypes =
    '/** Object types of each union and interface, for `new InMemoryCache({ possibleTypes })`. */\nexport declare const possibleTypes: Record<string, string[]>;';
  return {
    prepend: [HEAD, TYPES_IMPORT],
    content: [...declared, possibleTypes, code.types(schema, sentTexts(files))].join('\n'),
  };
}

function values(files, schema, format) {
  const { documents, byName } = files;
  const say = EXPORTS[format];
  const fragments = [...byName].map(([name, node]) => `const ${name} = ${literal(node)};`);
  const said = documents.map(({ node, name, fragments: spread }) => {
    const own = isFragment(node) ? node.name.value : literal(node);
    return say(name, `{ kind: 'Document', definitions: [${[own, ...spread].join(', ')}] }`);
  });
  const possibleTypes = say('possibleTypes', JSON.stringify(possibleTypesOf(schema)));
  return [HEAD, ...fragments, ...said, possibleTypes, code[format](schema, sentTexts(files)), ''].join('\n');
}

/** Returns the object types of each union and interface, as in possible-types.json. */
function possibleTypesOf(schema) {
  const abstract = Object.values(schema.getTypeMap()).filter((type) => 'resolveType' in type);
  return Object.fromEntries(
    abstract
      .filter(({ name }) => !name.startsWith('__'))
      .map((type) => [
        type.name,
        schema
          .getPossibleTypes(type)
          .map(({ name }) => name)
          .sort(),
      ])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const plugin = (schema, files, { format }) => {
  const documents = documentsOf(files);
  if (format === 'tables') return code.tables(schema, sentTexts(documents));
  return format === 'types' ? types(documents, schema) : values(documents, schema, format);
};

module.exports = { plugin };
