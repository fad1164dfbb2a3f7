import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import path from 'node:path';
import { temporaryLog, writeChain } from '../audit/support/files';
import { CHECKOUT } from '../gateway/fixtures/program';
import { temporaryFolder } from '../gateway/fixtures/manifests';
import { closeAfterTests, testSandbox } from '../support/gateway';
import { goodSettings } from './support/doctor';
import { run, type Ran } from './support/run';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

/** The program in a process of its own, with these settings and no others. */
function start(args: readonly string[], env: Record<string, string> = {}, root = CHECKOUT) {
  const { PATH = '', HOME = '' } = process.env;
  const options = args[0]?.startsWith('--import=') ? [args[0]] : [];
  const child = spawn(
    process.execPath,
    [...options, path.join(root, 'bin/paygraph.mjs'), ...args.slice(options.length)],
    { env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = once(child, 'close') as Promise<[number | null]>;
  closeAfterTests({ close: async () => void (child.kill('SIGKILL'), await ended) });
  return { child, code: ended.then(([code]) => code) };
}

async function ran(...given: Parameters<typeof start>): Promise<Ran> {
  const { child, code } = start(...given);
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, out, err };
}

test('the doctor says in words what it found before a good service, and exits with 0', async () => {
  const service = await testSandbox();
  const { code, out, err } = await ran(['doctor'], goodSettings(service.url));
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^ok {7}node +Node\.js 24\./);
  expect(out).toMatch(/^ok +credentials +A signed lookup .* is accepted/m);
  expect(out).toMatch(/\n\n\d+ ok, \d warnings?, 0 failed, \d+ do not apply\.\n$/);
  // No colour where nobody looks.
  expect(out).not.toContain('\u001b');
});

test('a typo is answered with what was meant, and exit code 2', async () => {
  const { code, out, err } = await ran(['strat']);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain('(Did you mean start?)');
});

test('whoever has read enough ends nothing: the exit code is that of the work', async () => {
  const { child, code } = start(['audit', 'verify', temporaryLog()]);
  child.stderr.destroy();
  expect(await code).toBe(2);
  const help = start(['--help']);
  const said = text(help.child.stderr);
  help.child.stdout.destroy();
  expect(await help.code).toBe(0);
  expect(await said).toBe('');
});

test('migrate names what is wrong with a file that is no database once', async () => {
  const file = path.join(temporaryFolder(), 'notes.db');
  writeFileSync(file, 'This is a text, and by no means a database. '.repeat(100));
  const { code, err } = await ran(['migrate'], { DATABASE_URL: `file:${file}` });
  expect(code).toBe(1);
  expect(err.match(/SQLITE_NOTADB/g)).toHaveLength(1);
});

test('Ctrl+C ends a command with 130', async () => {
  // A database that takes the connection and says nothing: the command waits for it.
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const { child, code } = start(['migrate'], { DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/none` });
  const [waiting] = (await once(silent, 'connection')) as [Socket];
  child.kill('SIGINT');
  expect(await code).toBe(130);
  waiting.destroy();
  silent.close();
});

test('a Node.js that is too old is told so', async () => {
  const old = 'Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.11.1"}})';
  const { code, out, err } = await ran([`--import=data:text/javascript,${encodeURIComponent(old)}`, 'start']);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toBe(
    'paygraph needs Node.js 24 or newer; this is 20.11.1. In a checkout `npm ci` brings it, for npm run and npx.\n',
  );
});

test('where there are no sources what was compiled is run', async () => {
  // Compiled now, if it was not before.
  await ran(['--version']);
  const image = temporaryFolder();
  mkdirSync(path.join(image, 'bin'));
  for (const file of ['bin/paygraph.mjs', 'package.json'])
    cpSync(path.join(CHECKOUT, file), path.join(image, file));
  for (const folder of ['dist', 'node_modules'])
    symlinkSync(path.join(CHECKOUT, folder), path.join(image, folder));
  const { code, out } = await ran(['help', 'start'], {}, image);
  expect(code).toBe(0);
  expect(out).toContain('Usage: paygraph start');
});

test('long work shows on a terminal how far it is, and nowhere else', async () => {
  const file = temporaryLog();
  await writeChain(file, 'a', 'b');
  const seen = await run(['audit', 'verify', file], {}, { isTTY: true });
  const unseen = await run(['audit', 'verify', file]);
  // What was written over is gone when the command ends.
  expect(seen.err).toMatch(/^\r\u001b\[K\S+audit\.log: \d+ %[^]*\r\u001b\[K$/);
  expect(unseen).toEqual({ ...seen, err: '' });
});
