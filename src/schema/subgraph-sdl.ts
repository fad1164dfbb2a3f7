import {
  Kind,
  parse,
  print,
  printSchema,
  visit,
  type ASTNode,
  type ConstDirectiveNode,
  type GraphQLSchema,
  type InterfaceTypeDefinitionNode,
  type ObjectTypeDefinitionNode,
} from 'graphql';

/** Federation 2.3 is the first version with keys on interfaces. */
const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])';

const directive = (name: string, args: Record<string, string> = {}): ConstDirectiveNode => ({
  kind: Kind.DIRECTIVE,
  name: { kind: Kind.NAME, value: name },
  arguments: Object.entries(args).map(([arg, value]) => ({
    kind: Kind.ARGUMENT,
    name: { kind: Kind.NAME, value: arg },
    value: { kind: Kind.STRING, value },
  })),
});

const KEY = directive('key', { fields: 'id' });
const SHAREABLE = directive('shareable');

/** Marks types and interfaces with a global id as entities, and PageInfo, which other subgraphs have, as shareable. */
function withFederationDirectives<N extends ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode>(
  node: N,
): N {
  const isEntity = node.interfaces?.some(({ name }) => name.value === 'Node');
  const added = isEntity ? [KEY] : node.name.value === 'PageInfo' ? [SHAREABLE] : [];
  return { ...node, directives: [...(node.directives ?? []), ...added] };
}

/** Returns the SDL of the schema as a subgraph of Apollo Federation 2. */
export function subgraphSdl(schema: GraphQLSchema): string {
  const document: ASTNode = visit(parse(printSchema(schema), { noLocation: true }), {
    ObjectTypeDefinition: withFederationDirectives,
    InterfaceTypeDefinition: withFederationDirectives,
    // Omitted, because composition rejects @oneOf as an unknown directive. The gateway still enforces it.
    Directive: ({ name }) => (name.value === 'oneOf' ? null : undefined),
  });
  return `${LINK}\n\n${print(document)}\n`;
}
