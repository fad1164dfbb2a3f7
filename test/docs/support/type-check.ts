import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../../support/cleanup';
import { findTypeFaults } from '../../support/type-check';
import { TOP, type Fence } from './markdown';

/** Names that the samples take from the application. */
const SURROUNDINGS = `
declare const PAYMENT_UPDATED: string;
declare const channel: string;
declare const transactionId: string;
declare function getToken(): Promise<string>;
declare function show(payment: unknown): void;
`;

const OPTIONS = {
  lib: ['es2024', 'dom', 'dom.iterable'],
  module: 'preserve',
  moduleResolution: 'bundler',
  jsx: 'react-jsx',
  types: ['node'],
  skipLibCheck: true,
  resolveJsonModule: true,
  allowJs: true,
  checkJs: true,
  noImplicitAny: false,
  paths: { '@paygraph/client': [path.join(TOP, 'client/index.d.ts')] },
};

const PROGRAMS = ['ts', 'tsx', 'js'];

/** Returns the name of a sample's file: the word after its language if that is a module that other samples import. */
const nameOf = ({ language, words: [word = ''] }: Fence, place: number): string =>
  word.endsWith('.ts') && !word.includes('=') ? word : `sample-${place}.${language}`;

export const isProgram = ({ language }: Fence): boolean => PROGRAMS.includes(language);

/** Returns the compiler errors of samples, which are compiled like files next to schema.graphql. */
export function typeFaults(samples: readonly Fence[]): string[] {
  const folder = temporaryFolder();
  for (const name of ['schema.graphql', 'possible-types.json'])
    copyFileSync(path.join(TOP, name), path.join(folder, name));
  symlinkSync(path.join(TOP, 'node_modules'), path.join(folder, 'node_modules'));
  writeFileSync(path.join(folder, 'surroundings.d.ts'), SURROUNDINGS);
  const files = new Map(samples.map((sample, place) => [nameOf(sample, place), sample]));
  // Every sample is a module, also without imports.
  for (const [name, { code }] of files) writeFileSync(path.join(folder, name), `${code}\nexport {};\n`);
  return findTypeFaults(folder, [...files.keys(), 'surroundings.d.ts'], OPTIONS).map(
    ({ file, line, message }) => {
      const sample = files.get(file);
      return `${sample?.file ?? file}:${line + (sample?.line ?? 0)} ${message}`;
    },
  );
}
