import path from 'node:path';
import ts from 'typescript';
import { TOP, type Fence } from './markdown';

/** Names that the samples take from the application. */
const SURROUNDINGS = `
declare const PAYMENT_UPDATED: string;
declare const channel: string;
declare const transactionId: string;
declare function getToken(): Promise<string>;
declare function show(payment: unknown): void;
`;

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  lib: ['lib.es2024.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  module: ts.ModuleKind.Preserve,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  jsx: ts.JsxEmit.ReactJSX,
  types: ['node'],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  resolveJsonModule: true,
  allowJs: true,
  checkJs: true,
  noImplicitAny: false,
  paths: { '@paygraph/client': [path.join(TOP, 'client/index.d.ts')] },
};

const ENDINGS: Readonly<Record<string, string>> = { ts: 'ts', tsx: 'tsx', js: 'js' };

/** Returns the name of a sample's file: the word after its language if that is a module that other samples import. */
const nameOf = ({ language, words: [word = ''] }: Fence, place: number): string =>
  word.endsWith('.ts') && !word.includes('=') ? word : `sample-${place}.${ENDINGS[language]}`;

export const isProgram = ({ language }: Fence): boolean => Object.hasOwn(ENDINGS, language);

/** Returns the compiler errors of samples, which are compiled like files next to schema.graphql. */
export function typeFaults(samples: readonly Fence[]): string[] {
  const files = new Map(samples.map((sample, place) => [path.join(TOP, nameOf(sample, place)), sample]));
  const surroundings = path.join(TOP, 'surroundings.d.ts');
  const host = ts.createCompilerHost(OPTIONS);
  const read = host.readFile.bind(host);
  const exists = host.fileExists.bind(host);
  // Every sample is a module, also without imports.
  const textOf = (file: string): string | undefined => {
    const sample = files.get(file);
    return sample ? `${sample.code}\nexport {};\n` : file === surroundings ? SURROUNDINGS : undefined;
  };
  host.readFile = (file) => textOf(file) ?? read(file);
  host.fileExists = (file) => textOf(file) !== undefined || exists(file);
  host.getSourceFile = (file, version) => {
    const text = host.readFile(file);
    return text === undefined ? undefined : ts.createSourceFile(file, text, version);
  };
  const program = ts.createProgram([...files.keys(), surroundings], OPTIONS, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const sample = files.get(file?.fileName ?? '');
    const line = (sample?.line ?? 0) + (file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
    return `${sample?.file ?? file?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}
