import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
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
import { documentFaults, type DocumentFault } from '../http/persisted/manifest';
import { publicMessage } from '../redaction/graphql-message';

/** An operation as a client sends it. */
export interface ClientOperation {
  id: string;
  name: string;
  type: string;
  body: string;
}

/** What a client makes of a document before it sends it. */
interface Habits {
  /** Whether a directive is for the client itself, which does not send it. */
  obeys(directive: string): boolean;
  /** Whether it asks for __typename in every selection below the root. */
  asksTypenames(operation: OperationDefinitionNode): boolean;
  /** Whether a field tells it that __typename need not be added beside it. */
  isTypename(field: FieldNode): boolean;
  /** The fragments' names in the order in which their definitions follow the operation; given in that of their first use. */
  order(names: string[]): string[];
  /** What stands between two definitions. */
  between: string;
}

const asWritten: Habits = {
  obeys: () => false,
  asksTypenames: () => false,
  isTypename: () => true,
  order: (names) => names.sort(),
  between: '\n\n',
};

/** The clients whose habits are known; test/gateway/persist-cli.system.test.ts compares them with the clients themselves. */
export const CLIENTS = {
  apollo: {
    ...asWritten,
    obeys: (directive) => ['connection', 'nonreactive', 'unmask'].includes(directive),
    asksTypenames: () => true,
    isTypename: ({ name }) => name.value.startsWith('__'),
  },
  urql: {
    obeys: (directive) => directive.startsWith('_'),
    asksTypenames: ({ operation }) => operation !== 'subscription',
    isTypename: ({ name, alias }) => name.value === '__typename' && !alias,
    order: (names) => names,
    between: '\n',
  },
  plain: asWritten,
} satisfies Record<string, Habits>;

/** The documents cannot be made into operations; every fault names file, line and rule. */
export class DocumentsError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

function documentsIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) return /^\.|^node_modules$/.test(entry.name) ? [] : documentsIn(place);
    return /\.(graphql|gql)$/.test(entry.name) ? [place] : [];
  });
}

/** The files, and in folders everything that ends in .graphql or .gql; each once, in an order of their own. */
export function documentFiles(places: readonly string[]): string[] {
  const found = places.flatMap((place) => (statSync(place).isDirectory() ? documentsIn(place) : [place]));
  return [...new Map(found.map((file) => [path.resolve(file), file])).values()].sort();
}

function placeOf(node: ASTNode): string[] {
  if (!node.loc) return [];
  const { source, start } = node.loc;
  return [`${source.name}:${getLocation(source, start).line}`];
}

function readDefinitions(file: string): readonly DefinitionNode[] {
  try {
    return parse(new Source(readFileSync(file, 'utf8'), file)).definitions;
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const line = error.locations?.[0]?.line ?? 1;
    throw new DocumentsError([`${file}:${line}: ${publicMessage(error.message) ?? 'Syntax Error.'}`]);
  }
}

const documentOf = (definitions: readonly DefinitionNode[]) =>
  ({ kind: Kind.DOCUMENT, definitions }) as const;

/** Fragments may serve no operation yet, and every operation has to have a name anyway. */
const RULES = specifiedRules.filter(
  (rule) => rule !== NoUnusedFragmentsRule && rule !== LoneAnonymousOperationRule,
);

/** Every fault of the documents taken together, as a fragment may stand in another file. */
function faultsOf(definitions: readonly DefinitionNode[], schema: GraphQLSchema): string[] {
  const nameless = definitions
    .filter((node) => node.kind === Kind.OPERATION_DEFINITION && !node.name)
    .map((node) => `${placeOf(node).join()}: every operation needs a name`);
  // A scalar refuses a value without saying where it stands: then its definition has to do.
  const placesOf = ({ rule, error }: DocumentFault): string[] =>
    error.nodes?.flatMap(placeOf) ??
    definitions
      .filter((definition) =>
        documentFaults(schema, documentOf([definition]), [rule]).some(
          (alone) => alone.error.message === error.message,
        ),
      )
      .flatMap(placeOf);
  const invalid = documentFaults(schema, documentOf(definitions), RULES).map((fault) => {
    const [first = '', ...others] = placesOf(fault);
    const also = others.length > 0 ? ` (also ${others.join(', ')})` : '';
    return `${first}: ${fault.rule.name}: ${fault.message}${also}`;
  });
  return [...nameless, ...invalid];
}

function withoutDirectives(definition: DefinitionNode, { obeys }: Habits): DefinitionNode {
  return visit(definition, { Directive: ({ name }) => (obeys(name.value) ? null : undefined) });
}

function withTypenames<D extends DefinitionNode>(definition: D, { isTypename }: Habits): D {
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

/** The names of the fragments that a definition needs, those of their fragments included, as they are first met. */
function fragmentsOf(
  definition: DefinitionNode,
  all: ReadonlyMap<string, FragmentDefinitionNode>,
  met = new Set<string>(),
): Set<string> {
  visit(definition, {
    FragmentSpread: ({ name: { value } }) => {
      const fragment = all.get(value);
      if (!fragment || met.has(value)) return;
      met.add(value);
      fragmentsOf(fragment, all, met);
    },
  });
  return met;
}

function sent(
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  habits: Habits,
): ClientOperation {
  const needed = habits.order([...fragmentsOf(operation, fragments)]);
  const definitions = [operation, ...needed.flatMap((name) => fragments.get(name) ?? [])];
  const asked = habits.asksTypenames(operation)
    ? definitions.map((definition) => withTypenames(definition, habits))
    : definitions;
  const body = asked.map((definition) => print(definition)).join(habits.between);
  const id = createHash('sha256').update(body).digest('hex');
  return { id, name: operation.name?.value ?? '', type: operation.operation, body };
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** The operations in the files as a client with these habits sends them, by name. Throws a DocumentsError. */
export function clientOperations(
  files: readonly string[],
  schema: GraphQLSchema,
  habits: Habits,
): ClientOperation[] {
  const written = files.flatMap((file) => readDefinitions(file));
  const definitions = written.map((definition) => withoutDirectives(definition, habits));
  const faults = faultsOf(definitions, schema);
  if (faults.length > 0) throw new DocumentsError(faults);
  const fragments = definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  const byName = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  return definitions
    .filter((node) => node.kind === Kind.OPERATION_DEFINITION)
    .map((operation) => sent(operation, byName, habits))
    .sort((a, b) => compare(a.name, b.name));
}
