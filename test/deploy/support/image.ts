import { spawn, spawnSync } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { CHECKOUT } from '../../support/program';
import { closeAfterTests } from '../../support/gateway';
import {
  buildContext,
  dockerfileStages,
  imageEnvironment,
  lastInstruction,
  type Instruction,
} from './dockerfile';
import { openFolder } from './files';

function copy(from: string, words: readonly string[]): void {
  const done = ['-al', '-af'].some((how) => spawnSync('cp', [how, ...words], { cwd: from }).status === 0);
  if (!done) throw new Error(`cp ${words.join(' ')}: failed in ${from}`);
}

const take = (from: string, names: readonly string[], to: string): void =>
  copy(from, ['--parents', ...names, to]);

/** Copies the production packages of the lock file from the installed ones. */
function installProductionPackages(app: string): void {
  const { packages } = JSON.parse(readFileSync(path.join(app, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  const names = Object.entries(packages)
    .filter(([name, { dev }]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(name) && !dev)
    .map(([name]) => name)
    // Packages of other platforms are not installed.
    .filter((name) => existsSync(path.join(CHECKOUT, name)));
  take(CHECKOUT, names, app);
}

/** Replacements of the Dockerfile's commands that work without a network. */
const RUNS: Readonly<Record<string, (root: string) => void>> = {
  'npm ci --include=dev --ignore-scripts': (root) =>
    symlinkSync(path.join(CHECKOUT, 'node_modules'), path.join(root, 'app/node_modules')),
  'npm ci --omit=dev --ignore-scripts': (root) => installProductionPackages(path.join(root, 'app')),
  // Takes the build of this test run, which was made from the same sources by the same command.
  'node scripts/build.mjs': (root) => take(CHECKOUT, ['dist'], path.join(root, 'app')),
  'mkdir -m 0700 /data && chown 10001:10001 /data && ln -s /data data': (root) => {
    mkdirSync(path.join(root, 'data'), { mode: 0o700 });
    if (isRoot) chownSync(path.join(root, 'data'), 10_001, 10_001);
    symlinkSync('/data', path.join(root, 'app/data'));
  },
};

const isRoot = process.getuid?.() === 0;

function executeInstruction(instruction: Instruction, root: string, stages: string): void {
  const app = path.join(root, 'app');
  if (instruction.name === 'RUN') {
    const run = RUNS[instruction.text];
    if (!run) throw new Error(`No replacement for this Dockerfile command: ${instruction.text}`);
    run(root);
  } else if (instruction.name === 'COPY') {
    const { from, words } = instruction;
    const to = path.resolve(app, words.at(-1) ?? '');
    for (const source of words.slice(0, -1)) {
      if (from) copy('/', ['-T', path.join(stages, from, source), to]);
      else if (source === '.') take(CHECKOUT, buildContext(), to);
      else take(CHECKOUT, [source], app);
    }
  }
}

/** Executes the stages of the Dockerfile in folders, and returns the folder of the image. */
export function buildImage(): string {
  const folder = openFolder();
  for (const { name, instructions } of dockerfileStages()) {
    const root = path.join(folder, name || 'image');
    mkdirSync(path.join(root, 'app'), { recursive: true });
    for (const instruction of instructions) executeInstruction(instruction, root, folder);
  }
  mkdirSync(path.join(folder, 'bin'));
  cpSync(process.execPath, path.join(folder, 'bin/node'));
  return path.join(folder, 'image');
}

/** A program that runs like in a container: as the user of the image, as PID 1, with only /data writable. */
export interface Container {
  output(): string;
  exited: Promise<number | null>;
  stop(): void;
}

/** Libraries and bash of this machine, which Debian's slim image also has. */
const SYSTEM = ['/usr/lib', '/lib', '/lib64', '/usr/bin/bash'].filter((place) => existsSync(place));

export function runInImage(
  image: string,
  command: readonly string[],
  settings: Readonly<Record<string, string>>,
  mounts: readonly string[] = [],
): Container {
  const [uid = '', gid = ''] = lastInstruction('USER').text.split(':');
  const env = { PATH: '/usr/local/bin:/usr/bin', ...imageEnvironment(), ...settings };
  const bind = (from: string, to = from): string[] => ['--ro-bind', from, to];
  const options = [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--as-pid-1', '--die-with-parent'],
    ...['--uid', uid, '--gid', gid],
    ...SYSTEM.flatMap((folder) => bind(folder)),
    ...bind(path.join(image, '../bin'), '/usr/local/bin'),
    ...bind(path.join(image, 'app'), '/app'),
    ...mounts.flatMap((file) => bind(file)),
    ...['--bind', path.join(image, 'data'), '/data', '--proc', '/proc', '--dev', '/dev', '--remount-ro', '/'],
    ...['--chdir', '/app', '--info-fd', '3', '--clearenv'],
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
  const user = isRoot ? { uid: Number(uid), gid: Number(gid) } : {};
  const child = spawn('bwrap', [...options, ...command], {
    ...user,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  let [output, info] = ['', ''];
  const [, stdout, stderr, facts] = child.stdio;
  for (const stream of [stdout, stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  facts?.on('data', (chunk: Buffer) => (info += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  closeAfterTests({
    close: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  });
  return {
    output: () => output,
    exited,
    stop: () => void process.kill((JSON.parse(info) as { 'child-pid': number })['child-pid'], 'SIGTERM'),
  };
}
