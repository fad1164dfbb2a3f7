import { gatewaySchema } from '../../resolvers';
import { CLIENTS, findDocumentFiles, readClientOperations, type ClientOperation } from '../client-documents';
import { EXIT, InputError, UsageError, type Context } from '../context';
import { replaceFile } from '../options';

/** Functions that return the manifest, by --format. */
const FORMATS = {
  apollo: (operations: readonly ClientOperation[]): object => {
    return { format: 'apollo-persisted-query-manifest', version: 1, operations };
  },
  codegen: (operations: readonly ClientOperation[]): object =>
    Object.fromEntries(operations.map(({ id, body }) => [id, body])),
};

function choose<T extends object>(option: string, value: string, choices: T): T[keyof T] {
  if (Object.hasOwn(choices, value)) return choices[value as keyof T];
  throw new UsageError(`${option}: expected ${Object.keys(choices).join(' or ')}.`);
}

/** Runs `paygraph persist`. @throws InvalidDocumentsError if a document is invalid; then nothing is written */
export function persist(
  { terminal }: Context,
  paths: readonly string[],
  options: { client: string; format: string; out: string },
): number {
  const client = choose('--client', options.client, CLIENTS);
  const manifestOf = choose('--format', options.format, FORMATS);
  const files = findDocumentFiles(paths);
  terminal.showProgress(`Reading ${files.length} files …`);
  const operations = readClientOperations(files, gatewaySchema(), client);
  if (operations.length === 0)
    throw new InputError(`No operation found in ${paths.join(', ')}. Nothing was written.`);
  replaceFile(options.out, `${JSON.stringify(manifestOf(operations), null, 2)}\n`);
  for (const { id, type, name } of operations) terminal.print(`${id}  ${type.padEnd(12)} ${name}`);
  terminal.print(`\n${operations.length} operations written. Set PERSISTED_OPERATIONS=${options.out}`);
  return EXIT.done;
}
