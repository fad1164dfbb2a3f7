// All gateways that can be measured: those of this folder, and the peers if their packages are installed.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const PEERS = path.resolve(import.meta.dirname, '..', 'peers');
const PROJECT = path.resolve(import.meta.dirname, '..', '..');
/** Packages of the baseline and of Apollo Server's default set-up. */
const OF_THE_PROJECT = ['@apollo/server', 'graphql', 'undici'];

const dependencies = (folder) =>
  JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')).dependencies;
const named = (packages, names = Object.keys(packages)) =>
  names.map((name) => `${name} ${packages[name]}`).join(', ');

/** Null if the peers are not installed (`npm ci` in their folder). */
async function peers() {
  if (!existsSync(path.join(PEERS, 'node_modules')) || !existsSync(path.join(PEERS, 'list.mjs'))) return null;
  const list = Object.values(await import(path.join(PEERS, 'list.mjs')));
  return list.find(Array.isArray);
}

export async function roster() {
  const { gateways } = await import('./list.mjs');
  const others = await peers();
  return { gateways: [...gateways, ...(others ?? [])], hasPeers: others !== null };
}

let loaded;

export async function entryOf(name) {
  loaded ??= await roster();
  return loaded.gateways.find((entry) => entry.name === name);
}

/** Names and versions of the measured packages. */
export function versions(hasPeers) {
  const own = `packages of this project: ${named(dependencies(PROJECT), OF_THE_PROJECT)}`;
  return hasPeers ? `${own}; of the peers: ${named(dependencies(PEERS))}` : own;
}
