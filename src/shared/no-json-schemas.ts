function compileSchema(): never {
  throw new Error('Routes of this server have no JSON schemas.');
}

/** Fastify's `schemaController` for servers without JSON schemas. Loads no schema compilers, which would take 0.1 s. */
export const noJsonSchemas = {
  compilersFactory: { buildValidator: () => compileSchema, buildSerializer: () => compileSchema },
};
