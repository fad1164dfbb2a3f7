// Bundles explorer/ with its workers and fonts into a directory, together with compressed copies.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import * as esbuild from 'esbuild';

const root = path.resolve(import.meta.dirname, '..');
const sources = path.join(root, 'explorer');

/** Leaves out Monaco's style sheets, because GraphiQL's already contains them. */
const withoutMonacoStyles = {
  name: 'without-monaco-styles',
  setup: ({ onLoad }) =>
    onLoad({ filter: /monaco-editor[\\/].*\.css$/ }, () => ({ contents: '', loader: 'css' })),
};

const bundle = (outdir, options) =>
  esbuild.build({
    absWorkingDir: root,
    bundle: true,
    minify: true,
    metafile: true,
    // Names contain a hash of the content, so files can be cached forever.
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    chunkNames: 'chunk-[hash]',
    target: 'es2022',
    legalComments: 'linked',
    plugins: [withoutMonacoStyles],
    logLevel: 'warning',
    outdir,
    ...options,
  });

/** Returns the output file and style sheet of an entry point. */
const outputOf = ({ outputs }, entry) => {
  const outputFile = Object.keys(outputs).find((name) => outputs[name].entryPoint?.endsWith(entry));
  if (!outputFile) throw new Error(`esbuild wrote no output for ${entry}.`);
  return { file: path.basename(outputFile), style: outputs[outputFile].cssBundle };
};

const WORKERS = {
  editor: 'monaco-editor/esm/vs/editor/editor.worker.js',
  json: 'monaco-editor/esm/vs/language/json/json.worker.js',
  graphql: 'monaco-graphql/esm/graphql.worker.js',
};

/** Returns the licence texts of all packages in the bundle. */
function licences(inputs) {
  const packages = new Set(
    inputs.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  );
  return [...packages].sort().map((folder) => {
    const at = path.join(root, folder);
    const { name, version, license } = JSON.parse(readFileSync(path.join(at, 'package.json'), 'utf8'));
    const file = readdirSync(at).find((one) => /^licen[cs]e/i.test(one));
    return `${name} ${version} (${license})\n\n${file ? readFileSync(path.join(at, file), 'utf8').trim() : ''}`;
  });
}

async function compress(directory) {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  const names = readdirSync(directory).filter((name) => name !== 'index.html');
  await Promise.all(
    names.map(async (name) => {
      const file = path.join(directory, name);
      const text = readFileSync(file);
      writeFileSync(`${file}.br`, await promisify(brotliCompress)(text, quality));
      writeFileSync(`${file}.gz`, await promisify(gzip)(text, { level: 9 }));
    }),
  );
}

async function buildExplorer(outdir) {
  mkdirSync(outdir, { recursive: true });
  const workers = await bundle(outdir, { format: 'iife', entryPoints: Object.values(WORKERS) });
  const addresses = Object.entries(WORKERS).map(([label, entry]) => [
    label,
    `explorer/${outputOf(workers.metafile, entry).file}`,
  ]);
  const page = await bundle(outdir, {
    format: 'esm',
    splitting: true,
    jsx: 'automatic',
    entryPoints: ['explorer/main.tsx', 'explorer/icon.svg'],
    loader: { '.svg': 'copy' },
    define: {
      WORKERS: JSON.stringify(Object.fromEntries(addresses)),
      'process.env.NODE_ENV': '"production"',
      'process.env.USE_IMPORT': '"true"',
    },
  });
  const { file, style } = outputOf(page.metafile, 'main.tsx');
  const names = {
    script: file,
    style: path.basename(style),
    icon: readdirSync(outdir).find((name) => name.endsWith('.svg')),
  };
  const template = readFileSync(path.join(sources, 'index.html'), 'utf8');
  const html = Object.entries(names).reduce(
    (text, [name, value]) => text.replace(`{${name}}`, value),
    template,
  );
  const inputs = [workers, page].flatMap(({ metafile }) => Object.keys(metafile.inputs));
  writeFileSync(path.join(outdir, 'licences.txt'), licences(inputs).join(`\n\n${'-'.repeat(80)}\n\n`));
  await compress(outdir);
  // Writes index.html last, because the gateway serves the explorer only if this file exists.
  writeFileSync(path.join(outdir, 'index.html'), html);
}

await buildExplorer(path.resolve(process.argv[2] ?? 'dist/explorer'));
