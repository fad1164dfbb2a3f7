// Tailcall's configuration file, generated because its port cannot be set by a variable.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const TEMPLATE = path.join(import.meta.dirname, 'tailcall.graphql');

/** Writes the configuration file into a folder. Returns its path. */
export function writeConfiguration({ port, serviceUrl, folder }) {
  const text = readFileSync(TEMPLATE, 'utf8')
    .replace('port: 4004', `port: ${port}`)
    .replaceAll('http://127.0.0.1:4999/', serviceUrl);
  const file = path.join(folder, 'tailcall.graphql');
  writeFileSync(file, text);
  return file;
}
