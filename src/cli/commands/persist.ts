import { gatewaySchema } from '../../resolvers';
import { CLIENTS, findDocumentFiles, readClientOperations, type ClientOperation } from '../client-documents';
import { InputError, type Context } from '../context';
import { replaceFile } from '../options';

const FORMATS = {
  apollo: (operations: readonly ClientOperation[]): object => {
    return { format: 'apollo-persisted-query-manifest', version: 1, operations };
  },
  codegen: (operations: readonly ClientOperation[]): object =>
    Object.fromEntries(operations.map(({ id, body }) => [id, body])),
};

/** Runs `paygraph persist`. Throws and writes no manifest if a document is invalid or no operation is found. */
export async function persist(
  { terminal }: Context,
  paths: readonly string[],
  { client, format, out }: { client: keyof typeof CLIENTS; format: keyof typeof FORMATS; out: string },
): Promise<void> {
  const files = findDocumentFiles(paths);
  terminal.showProgress(`Reading ${files.length} files …`);
  const operations = readClientOperations(files, gatewaySchema(), CLIENTS[client]);
  if (operations.length === 0)
    throw new InputError(`No operation found in ${paths.join(', ')}. Nothing was written.`);
  replaceFile(out, `${JSON.stringify(FORMATS[format](operations), null, 2)}\n`);
  for (const { id, type, name } of operations) terminal.print(`${id}  ${type.padEnd(12)} ${name}`);
  terminal.print(`\n${operations.length} operations written. Set PERSISTED_OPERATIONS=${out}`);
}
