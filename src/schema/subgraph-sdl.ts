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

/** The first version of the specification in which an interface can have a key: routers need be no newer. */
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

/** Of the types without an id the one that other subgraphs have too, with the same fields. */
const SHARED = 'PageInfo';

/** Whatever has a global id is an entity, interfaces too: who knows a payment's id need not know its method. */
function marked<N extends ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode>(node: N): N {
  const isEntity = node.interfaces?.some(({ name }) => name.value === 'Node');
  const added = isEntity ? [KEY] : node.name.value === SHARED ? [SHAREABLE] : [];
  return { ...node, directives: [...(node.directives ?? []), ...added] };
}

/** The SDL of the schema as a subgraph of Apollo Federation 2: what a router's supergraph is composed of. */
export function subgraphSdl(schema: GraphQLSchema): string {
  const document: ASTNode = visit(parse(printSchema(schema), { noLocation: true }), {
    ObjectTypeDefinition: marked,
    InterfaceTypeDefinition: marked,
    // Composition does not know @oneOf and refuses what it does not know; the subgraph enforces it as ever.
    Directive: ({ name }) => (name.value === 'oneOf' ? null : undefined),
  });
  return `${LINK}\n\n${print(document)}\n`;
}
