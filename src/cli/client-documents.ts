import { hash } from 'node:crypto';
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
import { validateDocument } from '../http/persisted/manifest';
import { redactGraphqlMessage } from '../redaction/graphql-message';
import { InputError } from './context';
import { errorOrCauseCode } from '../shared/error-code';

/** Changes that a GraphQL client library makes to documents before it sends them. */
interface DocumentTransform {
  /** Whether the client evaluates the directive itself and removes it from the document. */
  isClientDirective(directiveName: string): boolean;
  /**
   * Whether the client adds __typename to the selection sets of the operation and of the fragments that it uses, except
   * to the root selection set of the operation.
   */
  addsTypename(operation: OperationDefinitionNode): boolean;
  /** Whether this field keeps the client from adding __typename to the selection set that contains the field. */
  preventsTypenameInParent(field: FieldNode): boolean;
  /** True: the client sends fragments sorted by name. False: in the order of their first use. */
  sortsFragments: boolean;
  /** Text between two definitions in a document. */
  definitionSeparator: string;
}

/**
 * The behaviours of client libraries, by value of --client. test/gateway/persist-cli.system.test.ts compares them with
 * the real libraries.
 */
export const TRANSFORM_BY_CLIENT = {
  apollo: {
    isClientDirective: (directiveName) => ['connection', 'nonreactive', 'unmask'].includes(directiveName),
    addsTypename: () => true,
    preventsTypenameInParent: ({ name }) => name.value.startsWith('__'),
    sortsFragments: true,
    definitionSeparator: '\n\n',
  },
  urql: {
    isClientDirective: (directiveName) => directiveName.startsWith('_'),
    addsTypename: ({ operation }) => operation !== 'subscription',
    preventsTypenameInParent: ({ name, alias }) => name.value === '__typename' && !alias,
    sortsFragments: false,
    definitionSeparator: '\n',
  },
  plain: {
    isClientDirective: () => false,
    addsTypename: () => false,
    preventsTypenameInParent: () => true,
    sortsFragments: true,
    definitionSeparator: '\n\n',
  },
} satisfies Record<string, DocumentTransform>;

/**
 * Returns the given files, and all .graphql and .gql files in the given folders and their subfolders except
 * node_modules. The result is sorted and has no duplicates.
 * @throws InputError if a path cannot be read
 */
export function findDocumentFiles(filesOrFolders: readonly string[]): string[] {
  const filePaths = filesOrFolders.flatMap((fileOrFolder) => {
    try {
      if (!statSync(fileOrFolder).isDirectory()) return [fileOrFolder];
    } catch (error) {
      throw new InputError(`${fileOrFolder} cannot be read (${errorOrCauseCode(error)}).`);
    }
    const subpaths = globSync('**/*.{graphql,gql}', { cwd: fileOrFolder, exclude: ['**/node_modules/**'] });
    return subpaths.map((subpath) => path.join(fileOrFolder, subpath));
  });
  return [...new Map(filePaths.map((filePath) => [path.resolve(filePath), filePath])).values()].sort();
}

function readDefinitions(filePath: string): readonly DefinitionNode[] {
  try {
    return parse(new Source(readFileSync(filePath, 'utf8'), filePath)).definitions;
  } catch (error) {
    if (!(error instanceof GraphQLError))
      throw new InputError(`${filePath} cannot be read (${errorOrCauseCode(error)}).`);
    const lineNumber = error.locations?.[0]?.line ?? 1;
    const message = redactGraphqlMessage(error.message) ?? 'Syntax Error.';
    throw new Error(`${filePath}:${lineNumber}: ${message}`, { cause: error });
  }
}

const fileAndLineOf = ({ loc }: ASTNode): string =>
  loc ? `${loc.source.name}:${getLocation(loc.source, loc.start).line}` : '';

/**
 * The standard validation rules except two. Unused fragments are allowed. The rule for anonymous operations is not
 * needed, because validationErrorTexts() reports every operation without a name.
 */
const VALIDATION_RULES = specifiedRules.filter(
  (rule) => rule !== NoUnusedFragmentsRule && rule !== LoneAnonymousOperationRule,
);

/** Validates the definitions of all files together, because a fragment may be in another file. Returns the errors. */
function validationErrorTexts(definitions: readonly DefinitionNode[], schema: GraphQLSchema): string[] {
  const anonymousErrorTexts = definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION && !definition.name)
    .map((node) => `${fileAndLineOf(node)}: the operation has no name; every operation needs one`);
  const document = { kind: Kind.DOCUMENT, definitions } as const;
  const ruleErrorTexts = validateDocument(schema, document, VALIDATION_RULES).map((violation) => {
    const [location = '', ...otherLocations] = (violation.error.nodes ?? []).map(fileAndLineOf);
    const otherLocationsText = otherLocations.length > 0 ? ` (also ${otherLocations.join(', ')})` : '';
    return `${location}: ${violation.rule.name}: ${violation.message}${otherLocationsText}`;
  });
  return [...anonymousErrorTexts, ...ruleErrorTexts];
}

function addTypenames(
  definition: DefinitionNode,
  { preventsTypenameInParent }: DocumentTransform,
): DefinitionNode {
  const typenameField: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } };
  return visit(definition, {
    SelectionSet: (selectionSet, _key, parent) => {
      const isRootSelectionSet = parent && 'kind' in parent && parent.kind === Kind.OPERATION_DEFINITION;
      if (
        isRootSelectionSet ||
        selectionSet.selections.some((child) => child.kind === Kind.FIELD && preventsTypenameInParent(child))
      )
        return undefined;
      return { ...selectionSet, selections: [...selectionSet.selections, typenameField] };
    },
  });
}

type FragmentByName = ReadonlyMap<string, FragmentDefinitionNode>;

/** Returns the names of the fragments that a definition uses directly or indirectly, in the order of first use. */
function usedFragmentNames(
  definition: DefinitionNode,
  fragmentByName: FragmentByName,
  foundNames = new Set<string>(),
): Set<string> {
  visit(definition, {
    FragmentSpread: ({ name: { value } }) => {
      const fragment = fragmentByName.get(value);
      if (!fragment || foundNames.has(value)) return;
      foundNames.add(value);
      usedFragmentNames(fragment, fragmentByName, foundNames);
    },
  });
  return foundNames;
}

/**
 * Returns an operation as the client sends it. `body`: text of the operation and of the fragments that it uses. `id`:
 * SHA-256 of `body` in hexadecimal.
 */
function toSentOperation(
  operation: OperationDefinitionNode,
  fragmentByName: FragmentByName,
  documentTransform: DocumentTransform,
) {
  const fragmentNames = [...usedFragmentNames(operation, fragmentByName)];
  if (documentTransform.sortsFragments) fragmentNames.sort();
  const definitions = [operation, ...fragmentNames.flatMap((name) => fragmentByName.get(name) ?? [])];
  const body = definitions
    .map((definition) =>
      print(
        documentTransform.addsTypename(operation) ? addTypenames(definition, documentTransform) : definition,
      ),
    )
    .join(documentTransform.definitionSeparator);
  return { id: hash('sha256', body), name: operation.name?.value ?? '', type: operation.operation, body };
}

export type ClientOperation = ReturnType<typeof toSentOperation>;

/**
 * Returns the operations in the files as the client sends them, sorted by name.
 * @throws InputError if a file cannot be read; Error if a document is invalid. Each line of the Error's message begins
 *   with the name of a file and a line number.
 */
export function readClientOperations(
  filePaths: readonly string[],
  schema: GraphQLSchema,
  documentTransform: DocumentTransform,
): ClientOperation[] {
  const definitions = filePaths.flatMap(readDefinitions).map((definition): DefinitionNode =>
    visit(definition, {
      Directive: ({ name }) => (documentTransform.isClientDirective(name.value) ? null : undefined),
    }),
  );
  const errorTexts = validationErrorTexts(definitions, schema);
  if (errorTexts.length > 0) throw new Error(errorTexts.join('\n'));
  const fragmentByName = new Map(
    definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  return definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .map((operation) => toSentOperation(operation, fragmentByName, documentTransform))
    .sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
}
