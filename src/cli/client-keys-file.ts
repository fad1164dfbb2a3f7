import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { ApiKeyStore, type ClientKey } from '../auth/client-keys';
import { parseJson, textOfFile } from '../shared/json-text';
import { describeFileError } from '../shared/hot-reloaded-file';
import { InputError } from './context';

/** An entry of CLIENT_KEYS_FILE: its JSON and the key it describes. */
export interface KeyEntry {
  entry: object;
  /** The client's id. */
  id: string;
  key: ClientKey;
}

/** The entries of CLIENT_KEYS_FILE; none where there is no file. Throws what is wrong with it. */
export function readEntries(file: string): KeyEntry[] {
  if (!existsSync(file)) return [];
  const entries = parseJson(textOfFile(readFileSync(file)));
  if (!Array.isArray(entries)) throw new InputError(`${file} holds no JSON array.`);
  const keys = new ApiKeyStore(JSON.stringify(entries)).all;
  return keys.map((key, place) => {
    const entry = entries[place] as { id: string };
    return { entry, id: entry.id, key };
  });
}

/** Replaces the file in one step: a gateway that reads it meanwhile finds the old text or the new one. */
export function writeEntries(file: string, entries: readonly object[]): void {
  const text = `${JSON.stringify(entries, null, 2)}\n`;
  // The gateway's own rules, so that no file is written that it would refuse.
  new ApiKeyStore(text);
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, file);
}

/** The keys of a client. @throws InputError where the file has none */
export function entriesOfClient(entries: readonly KeyEntry[], id: string, file: string): KeyEntry[] {
  const found = entries.filter((entry) => entry.id === id);
  if (found.length === 0) throw new InputError(`${file} has no client of this id.`);
  return found;
}

/** Reports what is wrong with a file, and never what is in it. */
export function orInputError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof InputError ? error : new InputError(describeFileError(error));
  }
}
