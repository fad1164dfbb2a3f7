import { spawn, type ChildProcess } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { TOP, readPage } from '../../docs/support/markdown';

const FENCES = readPage('docs/live-updates.md').fences;

/** The samples of docs/live-updates.md that are programs, by name. */
export const SAMPLES: ReadonlyMap<string, string> = new Map(
  FENCES.filter(({ language }) => language === 'ts').map(({ words, code }) => [words[0] ?? '', code]),
);
/** The languages of all its samples. */
export const LANGUAGES: ReadonlySet<string> = new Set(FENCES.map(({ language }) => language));
/** The subscription that stands at its beginning. */
export const PAYMENT_UPDATED = FENCES.find(({ language }) => language === 'graphql')?.code ?? '';

export interface Surroundings {
  /** The address of /graphql, in the place of the one in the samples. */
  url: string;
  channel: string;
  transactionId: string;
  /** Where a token is fetched. */
  tokenUrl: string;
}

/** What a sample takes from the application around it: esbuild puts it wherever the sample names it. */
const prelude = ({ channel, transactionId, tokenUrl }: Surroundings): string => `
export const PAYMENT_UPDATED = ${JSON.stringify(PAYMENT_UPDATED)};
export const channel = ${JSON.stringify(channel)};
export const transactionId = ${JSON.stringify(transactionId)};
export const getToken = async () => (await fetch(${JSON.stringify(tokenUrl)})).text();
export const show = (payment) => globalThis.shown(payment);
`;

/** A sample as a script of its own, with the packages that it imports in it. */
export async function bundled(
  name: string,
  surroundings: Surroundings,
  platform: 'node' | 'browser',
): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-sample-'));
  try {
    copyFileSync(path.join(TOP, 'possible-types.json'), path.join(folder, 'possible-types.json'));
    const code = (SAMPLES.get(name) ?? '')
      .replaceAll('https://gateway.example/graphql', surroundings.url)
      .replaceAll('wss://gateway.example/graphql', surroundings.url.replace('http', 'ws'));
    writeFileSync(path.join(folder, 'surroundings.ts'), prelude(surroundings));
    writeFileSync(path.join(folder, 'sample.ts'), code);
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
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A sample that runs as a program. */
export interface RunningSample {
  /** What it has shown, in order. */
  shown: { status?: unknown; __typename?: unknown }[];
  /** Resolves with its exit code when it has nothing left to do. */
  exited: Promise<number | null>;
  errors(): string;
  kill(): void;
}

const REPORTS = 'globalThis.shown = (payment) => console.log("SHOWN " + JSON.stringify(payment));\n';
// Packages for Node.js that are no ES modules want it.
const REQUIRE = `import { createRequire } from 'node:module'; const require = createRequire(${JSON.stringify(__filename)});\n`;

/** Runs a sample as a program, which ends when it has nothing left to do, or has a life of its own as a page has. */
export async function runSample(
  name: string,
  surroundings: Surroundings,
  life: 'its own' | 'of the sample' = 'of the sample',
): Promise<RunningSample> {
  const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-sample-'));
  const file = path.join(folder, 'sample.mjs');
  const staysUp = life === 'its own' ? 'setInterval(() => undefined, 60_000);\n' : '';
  writeFileSync(file, REQUIRE + REPORTS + staysUp + (await bundled(name, surroundings, 'node')));
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'] });
  const shown: RunningSample['shown'] = [];
  let rest = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines)
      if (line.startsWith('SHOWN ')) shown.push(JSON.parse(line.slice(6)) as RunningSample['shown'][number]);
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  return {
    shown,
    exited: exitOf(child).finally(() => rmSync(folder, { recursive: true, force: true })),
    errors: () => errors,
    kill: () => child.kill('SIGKILL'),
  };
}

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once('exit', (code) => resolve(code)));
