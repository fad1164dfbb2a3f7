import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

export const TSC = path.join(path.dirname(require.resolve('typescript-7/package.json')), 'bin/tsc');

export interface TypeFault {
  /** Path relative to the folder. */
  file: string;
  line: number;
  message: string;
}

/** Compiles files of a folder, without output. Returns the errors. @param options compiler options of tsconfig.json */
export function findTypeFaults(folder: string, files: readonly string[], options: object): TypeFault[] {
  const compilerOptions = { target: 'es2024', strict: true, noEmit: true, ...options };
  const config = path.join(folder, 'tsconfig.json');
  writeFileSync(config, JSON.stringify({ compilerOptions, files }));
  const { status, stdout, stderr } = spawnSync(process.execPath, [TSC, '--pretty', 'false', '-p', config], {
    cwd: folder,
    encoding: 'utf8',
  });
  const lines = stdout.split('\n').filter((line) => line !== '' && !line.startsWith(' '));
  if (status !== 0 && lines.length === 0) throw new Error(`The compiler failed: ${status} ${stderr}`);
  return lines.map((text) => {
    const [, file = '', line, message = text] = /^(.+)\((\d+),\d+\): (.*)$/.exec(text) ?? [];
    return { file, line: Number(line), message };
  });
}
