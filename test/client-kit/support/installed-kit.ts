import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ts from 'typescript';

export const ROOT = path.resolve(__dirname, '../../..');

/** An application of its own, with the kit installed as a registry would hand it out. */
export interface App {
  folder: string;
  /** A file of the installed kit. */
  kit(name: string): string;
  /** Runs a program there, and returns what it prints. */
  run(program: string, ...args: string[]): string;
  remove(): void;
}

/**
 * @param packages what else is installed there
 * @param graphql the package that is installed as graphql
 */
export function newApp(packages: string[] = [], graphql = 'graphql'): App {
  const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-app-'));
  const kit = (name: string): string => path.join(folder, 'node_modules/@paygraph/client', name);
  const run = (program: string, ...args: string[]): string => {
    const done = spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`${program}: ${done.error?.message ?? done.stderr + done.stdout}`);
    return done.stdout;
  };
  run('npm', 'pack', path.join(ROOT, 'client'), '--silent');
  const [packed = ''] = readdirSync(folder);
  mkdirSync(kit('.'), { recursive: true });
  run('tar', '-xzf', packed, '-C', kit('.'), '--strip-components=1');
  const installed = (name: string): string => path.join(folder, 'node_modules', name);
  const here = (name: string): string => path.join(ROOT, 'node_modules', name);
  symlinkSync(here(graphql), installed('graphql'));
  // A copy, as a link would find the graphql of this project.
  cpSync(here('@graphql-typed-document-node'), installed('@graphql-typed-document-node'), {
    recursive: true,
  });
  for (const name of packages) symlinkSync(here(name), installed(name));
  return { folder, kit, run, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** What TypeScript has to say against these files. */
export function typeFaults(files: string[], options: ts.CompilerOptions = {}): string[] {
  const program = ts.createProgram(files, {
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
    lib: ['lib.es2024.d.ts'],
    types: [],
    ...options,
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
