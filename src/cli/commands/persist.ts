import { buildGatewaySchema } from '../../resolvers';
import {
  TRANSFORM_BY_CLIENT,
  findDocumentFiles,
  readClientOperations,
  type ClientOperation,
} from '../client-documents';
import { InputError, type CommandContext } from '../context';
import { replaceFile } from '../options';

const MANIFEST_FORMATTERS = {
  apollo: (operations: readonly ClientOperation[]): object => {
    return { format: 'apollo-persisted-query-manifest', version: 1, operations };
  },
  codegen: (operations: readonly ClientOperation[]): object =>
    Object.fromEntries(operations.map(({ id, body }) => [id, body])),
};

/** Runs `paygraph persist`. Throws and writes no manifest if a document is invalid or no operation is found. */
export async function persist(
  { terminal }: CommandContext,
  filesOrFolders: readonly string[],
  {
    client,
    format,
    out: manifestPath,
  }: { client: keyof typeof TRANSFORM_BY_CLIENT; format: keyof typeof MANIFEST_FORMATTERS; out: string },
): Promise<void> {
  const filePaths = findDocumentFiles(filesOrFolders);
  terminal.showProgress(`Reading ${filePaths.length} files …`);
  const operations = readClientOperations(filePaths, buildGatewaySchema(), TRANSFORM_BY_CLIENT[client]);
  if (operations.length === 0)
    throw new InputError(`No operation found in ${filesOrFolders.join(', ')}. Nothing was written.`);
  replaceFile(manifestPath, `${JSON.stringify(MANIFEST_FORMATTERS[format](operations), null, 2)}\n`);
  for (const { id, type, name } of operations) terminal.print(`${id}  ${type.padEnd(12)} ${name}`);
  terminal.print(`\n${operations.length} operations written. Set PERSISTED_OPERATIONS=${manifestPath}`);
}
