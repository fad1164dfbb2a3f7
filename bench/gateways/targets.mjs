// All gateways that can be measured: those of this folder, and the peers if their packages are installed.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const PEERS = path.resolve(import.meta.dirname, '..', 'peers');
const PROJECT = path.resolve(import.meta.dirname, '..', '..');
/** Packages of this project that the baseline and Apollo Server use. */
const MEASURED_PACKAGES = ['@apollo/server', 'graphql', 'undici'];

const dependencies = (folder) =>
  JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')).dependencies;
const versionsText = (packages, names = Object.keys(packages)) =>
  names.map((name) => `${name} ${packages[name]}`).join(', ');

/** Returns the peers; null if they are not installed (`npm ci` in bench/peers). */
async function peers() {
  if (!existsSync(path.join(PEERS, 'node_modules')) || !existsSync(path.join(PEERS, 'list.mjs'))) return null;
  const list = Object.values(await import(path.join(PEERS, 'list.mjs')));
  return list.find(Array.isArray);
}

export async function loadTargets() {
  const { gateways } = await import('./list.mjs');
  const others = await peers();
  return { gateways: [...gateways, ...(others ?? [])], hasPeers: others !== null };
}

let loaded;

export async function entryOf(name) {
  loaded ??= await loadTargets();
  return loaded.gateways.find((entry) => entry.name === name);
}

/** Returns the names and versions of the measured packages. */
export function versions(hasPeers) {
  const own = `packages of this project: ${versionsText(dependencies(PROJECT), MEASURED_PACKAGES)}`;
  return hasPeers ? `${own}; of the peers: ${versionsText(dependencies(PEERS))}` : own;
}
