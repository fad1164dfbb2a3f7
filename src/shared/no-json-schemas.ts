function compileSchema(): never {
  throw new Error('A route has a JSON schema, but this server has no schema compilers.');
}

/** Fastify's `schemaController` for servers without JSON schemas. Avoids loading the compilers, which takes 0.1 s. */
export const noJsonSchemas = {
  compilersFactory: { buildValidator: () => compileSchema, buildSerializer: () => compileSchema },
};
