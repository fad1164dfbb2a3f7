import { printSchema, type GraphQLSchema } from 'graphql';

/** Declares the version of Apollo Federation. Version 2.3 is the first that allows `@key` on interfaces. */
const FEDERATION_LINK_SDL =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])';

/** Returns the SDL of the schema as a subgraph of Apollo Federation 2. */
export function subgraphSdl(schema: GraphQLSchema): string {
  const sdl = printSchema(schema)
    // Types and interfaces that implement Node are entities. PageInfo is shareable: other subgraphs may declare it.
    .replace(/^((type|interface) \w+ implements .*\bNode\b.*) \{$/gm, '$1 @key(fields: "id") {')
    .replace(/^type PageInfo \{$/m, 'type PageInfo @shareable {')
    // Omit @oneOf, because composition rejects it as an unknown directive. The gateway enforces it nevertheless.
    .replace(/^(input \w+) @oneOf \{$/gm, '$1 {');
  return `${FEDERATION_LINK_SDL}\n\n${sdl}\n`;
}
