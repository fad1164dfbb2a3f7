function compileSchema(): never {
  throw new Error('Routes of this server have no JSON schemas.');
}

/** Option of Fastify for servers without JSON schemas. Their compilers, which take 0.1 s to load, are not loaded. */
export const noJsonSchemas = {
  compilersFactory: { buildValidator: () => compileSchema, buildSerializer: () => compileSchema },
};
