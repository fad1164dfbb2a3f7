import fc from 'fast-check';
import { execute, getOperationAST, parse, type ExecutionResult } from 'graphql';
import { ALL_SCOPES_CALLER, contextOfTransactions } from './support/transaction-context';
import { PreparedOperation } from '../../src/http/prepared/prepared-operation';
import { compileOperation, type CompiledOperation } from '../../src/http/prepared/compiled-operation';
import { gatewaySchema } from '../../src/resolvers';
import type { OperationContext } from '../../src/resolvers/context';
import { operationOf, type Operation } from './support/generated-operations';

/** The same operation by graphql-js and by the compiled reader, in one process and on the same answers of a service. */

const schema = gatewaySchema();

function knownOf({ query, operationName }: Operation) {
  const document = parse(query);
  const operation = getOperationAST(document, operationName);
  if (!operation) throw new Error(`No operation ${operationName}: ${query}`);
  return { schema, document, operation };
}

const byGraphql = async ({ query, variables, operationName }: Operation): Promise<ExecutionResult> =>
  execute({
    schema,
    document: parse(query),
    variableValues: variables,
    operationName,
    contextValue: contextOfTransactions(ALL_SCOPES_CALLER),
  });

async function byPrepared(asked: Operation): Promise<ExecutionResult> {
  const operation = new PreparedOperation(knownOf(asked));
  const variables = operation.variablesOf(asked.variables);
  if (!variables) throw new Error('The variables do not fit.');
  const context = contextOfTransactions(ALL_SCOPES_CALLER);
  return operation.run(context, asked.variables, variables);
}

/** The text of an answer, byte for byte; which of several lookups failed first is left to the service. */
const written = ({ data, errors = [] }: ExecutionResult): string[] => [
  JSON.stringify(data),
  ...errors.map((error) => JSON.stringify(error)).sort(),
];

async function dataOf(compiled: CompiledOperation, context: OperationContext, variables: object) {
  const value = await compiled.start(context, { ...variables });
  return compiled.read(Array.isArray(value) ? await Promise.all(value) : value);
}

const RUNS = { numRuns: 300, maxSkipsPerRun: 200 };

test('what is compiled reads the same data as graphql-js, in the same order, whatever is selected', async () => {
  let known = 0;
  const property = fc.asyncProperty(fc.gen(), async (g) => {
    const asked = operationOf(schema, g, { fails: false, directives: false });
    const { document, operation } = knownOf(asked);
    const compiled = compileOperation(schema, document, operation);
    const { data, errors } = await byGraphql(asked);
    expect(errors).toBeUndefined();
    const variables = new PreparedOperation({ schema, document, operation }).variablesOf(asked.variables);
    const context = contextOfTransactions(ALL_SCOPES_CALLER);
    // What is not compiled is graphql-js's from the beginning; what an attempt created arrives late, and becomes it.
    if (!compiled) return;
    const read = await dataOf(compiled, context, variables ?? {}).catch(() => undefined);
    if (read === undefined) return expect(asked.query).toMatch(/attempts?\(|__proto__/);
    known += 1;
    expect(JSON.stringify(read)).toBe(JSON.stringify(data));
  });
  await fc.assert(property, RUNS);
  expect(known).toBeGreaterThan(RUNS.numRuns / 4);
});

test.each([
  ['lookups fail', { fails: true, directives: false }],
  ['directives decide', { fails: false, directives: true }],
  ['lookups fail and directives decide', { fails: true, directives: true }],
])('a prepared operation answers as graphql-js does where %s', async (_what, options) => {
  const property = fc.asyncProperty(fc.gen(), async (g) => {
    const asked = operationOf(schema, g, options);
    expect(written(await byPrepared(asked))).toEqual(written(await byGraphql(asked)));
  });
  await fc.assert(property, { ...RUNS, numRuns: 120 });
});
