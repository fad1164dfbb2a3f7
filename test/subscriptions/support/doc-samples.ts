import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { temporaryFolder } from '../../support/cleanup';
import { TOP, readPage } from '../../docs/support/markdown';

const FENCES = readPage('docs/live-updates.md').fences;

export const SAMPLES: ReadonlyMap<string, string> = new Map(
  FENCES.filter(({ language }) => language === 'ts').map(({ words, code }) => [words[0] ?? '', code]),
);
export const LANGUAGES: ReadonlySet<string> = new Set(FENCES.map(({ language }) => language));
export const PAYMENT_UPDATED = FENCES.find(({ language }) => language === 'graphql')?.code ?? '';

export interface Surroundings {
  url: string;
  channel: string;
  transactionId: string;
  tokenUrl: string;
}

/** Returns code for the names that a sample expects from its application; esbuild injects it. */
const prelude = ({ channel, transactionId, tokenUrl }: Surroundings): string => `
export const PAYMENT_UPDATED = ${JSON.stringify(PAYMENT_UPDATED)};
export const channel = ${JSON.stringify(channel)};
export const transactionId = ${JSON.stringify(transactionId)};
export const getToken = async () => (await fetch(${JSON.stringify(tokenUrl)})).text();
export const show = (payment) => globalThis.shown(payment);
`;

/** The module that the samples of graphql-ws clients import. */
export const SOCKET = 'socket.ts';

/** Programs that the page describes without code. */
const DESCRIBED: ReadonlyMap<string, string> = new Map([
  ['eventsource', readFileSync(path.join(__dirname, 'eventsource-sample.mjs'), 'utf8')],
]);

/** Returns a sample as one script, bundled with its packages. */
export async function bundled(name: string, surroundings: Surroundings, platform: 'node' | 'browser') {
  const folder = temporaryFolder();
  copyFileSync(path.join(TOP, 'possible-types.json'), path.join(folder, 'possible-types.json'));
  const codeOf = (sample: string): string =>
    (SAMPLES.get(sample) ?? DESCRIBED.get(sample) ?? '')
      .replaceAll('https://gateway.example/graphql', surroundings.url)
      .replaceAll('wss://gateway.example/graphql', surroundings.url.replace('http', 'ws'));
  writeFileSync(path.join(folder, 'surroundings.ts'), prelude(surroundings));
  writeFileSync(path.join(folder, SOCKET), codeOf(SOCKET));
  writeFileSync(path.join(folder, 'sample.ts'), codeOf(name));
  const { outputFiles } = await build({
    entryPoints: [path.join(folder, 'sample.ts')],
    inject: [path.join(folder, 'surroundings.ts')],
    nodePaths: [path.join(TOP, 'node_modules')],
    bundle: true,
    write: false,
    platform,
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
    define: { 'globalThis.__DEV__': 'false' },
  });
  return outputFiles[0]?.text ?? '';
}

type State = Record<string, unknown>;

export interface RunningSamples {
  /** The statuses that each sample has shown, in order. urql repeats the last one when it ends. */
  shown: ReadonlyMap<string, State[]>;
  exited: Promise<number | null>;
  errors(): string;
  kill(): void;
}

// Bundled CommonJS packages need `require`.
const REQUIRE = `import { createRequire } from 'node:module'; const require = createRequire(${JSON.stringify(__filename)});\n`;

/** Runs samples in one process. It ends with the last sample or, with `stays`, runs like a page until it is killed. */
export async function runSamples(
  names: readonly string[],
  surroundingsOf: (name: string) => Surroundings,
  stays: boolean,
): Promise<RunningSamples> {
  const folder = temporaryFolder();
  for (const name of names) {
    const reporter = `const reportState = (payment) => console.log('SHOWN ' + JSON.stringify(['${name}', payment]));\n`;
    const code = await bundled(name, surroundingsOf(name), 'node');
    const own = code.replaceAll('globalThis.shown(', 'reportState(');
    writeFileSync(path.join(folder, `${name}.mjs`), REQUIRE + reporter + own);
  }
  const imports = names.map((name) => `import('./${name}.mjs')`).join(', ');
  const timer = stays ? 'setInterval(() => undefined, 60_000);\n' : '';
  writeFileSync(path.join(folder, 'main.mjs'), `${timer}await Promise.all([${imports}]);\n`);
  const child = spawn(process.execPath, [path.join(folder, 'main.mjs')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const shown = new Map(names.map((name): [string, State[]] => [name, []]));
  createInterface(child.stdout).on('line', (line) => {
    if (!line.startsWith('SHOWN ')) return;
    const [name, state] = JSON.parse(line.slice(6)) as [string, State];
    const states = shown.get(name) ?? [];
    if (JSON.stringify(states.at(-1)) !== JSON.stringify(state)) states.push(state);
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  return {
    shown,
    exited: once(child, 'close').then(([code]) => code as number | null),
    errors: () => errors,
    kill: () => child.kill('SIGKILL'),
  };
}
