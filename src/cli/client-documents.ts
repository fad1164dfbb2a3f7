import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import {
  getLocation,
  GraphQLError,
  Kind,
  LoneAnonymousOperationRule,
  NoUnusedFragmentsRule,
  parse,
  print,
  Source,
  specifiedRules,
  visit,
  type ASTNode,
  type DefinitionNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { documentErrors, type DocumentError } from '../http/persisted/manifest';
import { publicMessage } from '../redaction/graphql-message';
import { InputError, causeCode } from './context';

/** An operation as a client sends it. */
export interface ClientOperation {
  /** SHA-256 of the body. */
  id: string;
  name: string;
  type: string;
  body: string;
}

/** How a client changes a document before it sends it. */
interface ClientBehavior {
  /** Directives for the client itself, which it removes. */
  isClientDirective(name: string): boolean;
  /** Whether it adds __typename to every selection below the root. */
  addsTypename(operation: OperationDefinitionNode): boolean;
  /** Fields that keep __typename from being added to their selection. */
  isTypename(field: FieldNode): boolean;
  /** Whether fragments are sorted by name; otherwise they are in the order of their first use. */
  sortsFragments: boolean;
  /** The text between two definitions. */
  separator: string;
}

/** Supported clients; test/gateway/persist-cli.system.test.ts compares them with the clients' libraries. */
export const CLIENTS = {
  apollo: {
    isClientDirective: (name) => ['connection', 'nonreactive', 'unmask'].includes(name),
    addsTypename: () => true,
    isTypename: ({ name }) => name.value.startsWith('__'),
    sortsFragments: true,
    separator: '\n\n',
  },
  urql: {
    isClientDirective: (name) => name.startsWith('_'),
    addsTypename: ({ operation }) => operation !== 'subscription',
    isTypename: ({ name, alias }) => name.value === '__typename' && !alias,
    sortsFragments: false,
    separator: '\n',
  },
  plain: {
    isClientDirective: () => false,
    addsTypename: () => false,
    isTypename: () => true,
    sortsFragments: true,
    separator: '\n\n',
  },
} satisfies Record<string, ClientBehavior>;

/** Documents are invalid; each error has the file, the line and the rule. */
export class DocumentsError extends Error {
  constructor(readonly errors: readonly string[]) {
    super(errors.join('\n'));
  }
}

/** The files, and the .graphql and .gql files in folders; each once, sorted. @throws InputError */
export function documentFiles(paths: readonly string[]): string[] {
  const files = paths.flatMap((each) => {
    try {
      if (!statSync(each).isDirectory()) return [each];
    } catch (error) {
      throw new InputError(`${each} cannot be read (${causeCode(error)}).`);
    }
    const found = globSync('**/*.{graphql,gql}', { cwd: each, exclude: ['**/node_modules/**'] });
    return found.map((file) => path.join(each, file));
  });
  return [...new Map(files.map((file) => [path.resolve(file), file])).values()].sort();
}

function readDefinitions(file: string): readonly DefinitionNode[] {
  try {
    return parse(new Source(readFileSync(file, 'utf8'), file)).definitions;
  } catch (error) {
    if (!(error instanceof GraphQLError))
      throw new InputError(`${file} cannot be read (${causeCode(error)}).`);
    const line = error.locations?.[0]?.line ?? 1;
    throw new DocumentsError([`${file}:${line}: ${publicMessage(error.message) ?? 'Syntax Error.'}`]);
  }
}

const documentOf = (definitions: readonly DefinitionNode[]) =>
  ({ kind: Kind.DOCUMENT, definitions }) as const;

const locationOf = ({ loc }: ASTNode): string =>
  loc ? `${loc.source.name}:${getLocation(loc.source, loc.start).line}` : '';

/** Unused fragments are allowed; operations without a name are reported separately. */
const RULES = specifiedRules.filter(
  (rule) => rule !== NoUnusedFragmentsRule && rule !== LoneAnonymousOperationRule,
);

/** Validates the documents together, because a fragment may be in another file. */
function validate(definitions: readonly DefinitionNode[], schema: GraphQLSchema): string[] {
  const anonymous = definitions
    .filter((node) => node.kind === Kind.OPERATION_DEFINITION && !node.name)
    .map((node) => `${locationOf(node)}: every operation needs a name`);
  // An error of a scalar has no nodes: then the definitions with the same error are searched.
  const nodesOf = ({ rule, error }: DocumentError): readonly ASTNode[] =>
    error.nodes ??
    definitions.filter((definition) =>
      documentErrors(schema, documentOf([definition]), [rule]).some(
        (other) => other.error.message === error.message,
      ),
    );
  const invalid = documentErrors(schema, documentOf(definitions), RULES).map((fault) => {
    const [first = '', ...others] = nodesOf(fault).map(locationOf);
    const also = others.length > 0 ? ` (also ${others.join(', ')})` : '';
    return `${first}: ${fault.rule.name}: ${fault.message}${also}`;
  });
  return [...anonymous, ...invalid];
}

function withTypenames(definition: DefinitionNode, { isTypename }: ClientBehavior): DefinitionNode {
  const __typename: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } };
  return visit(definition, {
    SelectionSet: (node, _key, parent) => {
      const isRoot = parent && 'kind' in parent && parent.kind === Kind.OPERATION_DEFINITION;
      if (isRoot || node.selections.some((each) => each.kind === Kind.FIELD && isTypename(each)))
        return undefined;
      return { ...node, selections: [...node.selections, __typename] };
    },
  });
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** The names of the fragments that a definition uses, also indirectly, in the order of their first use. */
function usedFragments(definition: DefinitionNode, all: Fragments, used = new Set<string>()): Set<string> {
  visit(definition, {
    FragmentSpread: ({ name: { value } }) => {
      const fragment = all.get(value);
      if (!fragment || used.has(value)) return;
      used.add(value);
      usedFragments(fragment, all, used);
    },
  });
  return used;
}

function clientOperation(
  operation: OperationDefinitionNode,
  fragments: Fragments,
  client: ClientBehavior,
): ClientOperation {
  const used = [...usedFragments(operation, fragments)];
  if (client.sortsFragments) used.sort();
  const definitions = [operation, ...used.flatMap((name) => fragments.get(name) ?? [])];
  const body = definitions
    .map((each) => print(client.addsTypename(operation) ? withTypenames(each, client) : each))
    .join(client.separator);
  const id = createHash('sha256').update(body).digest('hex');
  return { id, name: operation.name?.value ?? '', type: operation.operation, body };
}

/** The operations in the files as a client sends them, sorted by name. @throws DocumentsError */
export function clientOperations(
  files: readonly string[],
  schema: GraphQLSchema,
  client: ClientBehavior,
): ClientOperation[] {
  const definitions = files.flatMap(readDefinitions).map((definition): DefinitionNode =>
    visit(definition, {
      Directive: ({ name }) => (client.isClientDirective(name.value) ? null : undefined),
    }),
  );
  const errors = validate(definitions, schema);
  if (errors.length > 0) throw new DocumentsError(errors);
  const fragments = new Map(
    definitions
      .filter((node) => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  return definitions
    .filter((node) => node.kind === Kind.OPERATION_DEFINITION)
    .map((operation) => clientOperation(operation, fragments, client))
    .sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
}
