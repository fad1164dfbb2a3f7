import { readFileSync } from 'node:fs';
import path from 'node:path';

export const TOP = path.resolve(__dirname, '../../..');

const DOCUMENT = readFileSync(path.join(TOP, 'docs/federation.md'), 'utf8');

const SAMPLES: ReadonlyMap<string, string> = new Map(
  [...DOCUMENT.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)].map(([, name = '', code = '']) => [name, code]),
);

export function sample(name: string): string {
  const code = SAMPLES.get(name);
  if (code === undefined) throw new Error(`docs/federation.md has no sample ${name}.`);
  return code;
}

export const subgraphText = (): string => readFileSync(path.join(TOP, 'subgraph.graphql'), 'utf8');
