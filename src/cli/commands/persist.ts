import 'reflect-metadata';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { gatewaySchema } from '../../resolvers';
import { CLIENTS, clientOperations, documentFiles, type ClientOperation } from '../client-documents';
import { EXIT, InputError, UsageError, type Context } from '../context';

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
    throw new InputError(`${file} cannot be written (${String((error as NodeJS.ErrnoException).code)}).`, {
      cause: error,
    });
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The documents that were named. */
function filesIn(places: readonly string[]): string[] {
  try {
    return documentFiles(places);
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (path === undefined) throw error;
    throw new InputError(
      code === 'ENOENT' ? `${path}: there is no such file or folder.` : `${path} cannot be read (${code}).`,
    );
  }
}

interface Options {
  client: string;
  format: string;
  out: string;
}

/** `paygraph persist`. Throws a DocumentsError where a document is wrong; then nothing is written. */
export function persist({ terminal }: Context, places: readonly string[], options: Options): number {
  const habits = chosen(CLIENTS, 'client', options.client);
  const manifest = chosen(FORMATS, 'format', options.format);
  const files = filesIn(places);
  terminal.progress(`Reading ${files.length} files …`);
  const operations = clientOperations(files, gatewaySchema(), habits);
  if (operations.length === 0)
    throw new InputError(`There is no operation in ${places.join(', ')}: nothing was written.`);
  write(options.out, `${JSON.stringify(manifest(operations), null, 2)}\n`);
  const lines = operations.map(({ id, type, name }) => `${id}  ${type.padEnd(12)} ${name}`);
  terminal.print(
    `${lines.join('\n')}\n\n${operations.length} operations: PERSISTED_OPERATIONS=${options.out}`,
  );
  return EXIT.done;
}
