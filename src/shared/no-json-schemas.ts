function compileSchema(): never {
  throw new Error('Routes of this server have no JSON schemas.');
}

/** Fastify's `schemaController` for servers without JSON schemas. Avoids loading the compilers, which takes 0.1 s. */
export const noJsonSchemas = {
  compilersFactory: { buildValidator: () => compileSchema, buildSerializer: () => compileSchema },
};
