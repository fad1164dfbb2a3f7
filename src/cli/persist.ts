import 'reflect-metadata';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import process from 'node:process';
import { gatewaySchema } from '../resolvers';
import {
  CLIENTS,
  clientOperations,
  documentFiles,
  DocumentsError,
  type ClientOperation,
} from './client-documents';

const USAGE = `Makes the manifest for PERSISTED_OPERATIONS from the documents of your frontends.

  npm run persist -- <files or folders…> [--client apollo|urql|plain] [--format apollo|codegen] [--out <file>]

<files or folders…>  documents: of folders everything in them that ends in .graphql or .gql
--client  who sends the operations, as an id is the SHA-256 of the text that is sent: Apollo Client (without this) and urql
          add __typename to what you wrote; plain adds nothing
--format  of the manifest: Apollo's (without this), or that of graphql-codegen's persisted-documents.json
--out     where it goes; without this persisted-operations.json
`;

/** What was typed cannot be done; the message is for the person who typed it. */
class UsageError extends Error {}

const FORMATS = {
  apollo: (operations: readonly ClientOperation[]): object => ({
    format: 'apollo-persisted-query-manifest',
    version: 1,
    operations,
  }),
  codegen: (operations: readonly ClientOperation[]): object =>
    Object.fromEntries(operations.map(({ id, body }) => [id, body])),
};

function chosen<T extends object>(table: T, option: string, value: string): T[keyof T] {
  if (Object.hasOwn(table, value)) return table[value as keyof T];
  throw new UsageError(`--${option}: expected ${Object.keys(table).join(', ')}.`);
}

/** In one step: whoever reads the file meanwhile finds the old one or the new one. */
function write(file: string, text: string): void {
  const draft = `${file}.${process.pid}.new`;
  try {
    writeFileSync(draft, text);
    renameSync(draft, file);
  } catch (error) {
    throw new Error(`${file} cannot be written (${String((error as NodeJS.ErrnoException).code)}).`, {
      cause: error,
    });
  } finally {
    rmSync(draft, { force: true });
  }
}

function run(): string {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      client: { type: 'string', default: 'apollo' },
      format: { type: 'string', default: 'apollo' },
      out: { type: 'string', default: 'persisted-operations.json' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return USAGE;
  const habits = chosen(CLIENTS, 'client', values.client);
  const manifest = chosen(FORMATS, 'format', values.format);
  if (positionals.length === 0) throw new UsageError('Where are the documents?');
  const operations = clientOperations(documentFiles(positionals), gatewaySchema(), habits);
  if (operations.length === 0)
    throw new UsageError(`There is no operation in ${positionals.join(', ')}: nothing was written.`);
  write(values.out, `${JSON.stringify(manifest(operations), null, 2)}\n`);
  const lines = operations.map(({ id, type, name }) => `${id}  ${type.padEnd(12)} ${name}`);
  return `${lines.join('\n')}\n\n${operations.length} operations: PERSISTED_OPERATIONS=${values.out}\n`;
}

/** In words, what went wrong with a file of the person who typed its name. */
function says(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' && path !== undefined) return `${path}: there is no such file or folder.`;
  return error.message;
}

/** `npm run persist`: exit code 0 when the manifest was written, 1 when a document is wrong, 2 when what was typed is. */
export function main(): void {
  try {
    process.stdout.write(run());
  } catch (error) {
    const isUsage = error instanceof UsageError || (error instanceof TypeError && 'code' in error);
    process.stderr.write(`${says(error)}\n${isUsage ? `\n${USAGE}` : ''}`);
    process.exitCode = error instanceof DocumentsError ? 1 : 2;
  }
}
