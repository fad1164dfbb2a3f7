import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { temporaryLog } from '../audit/support/files';
import { runProgram, start } from './support/run';
import { describeSqliteDesk } from './support/settling';

test('A command whose stdout or stderr is closed (EPIPE) exits with its usual code', async () => {
  const { child, code } = start(['audit', 'verify', temporaryLog()]);
  child.stderr.destroy();
  expect(await code).toBe(2);
  const help = start(['--help']);
  const said = text(help.child.stderr);
  help.child.stdout.destroy();
  expect(await help.code).toBe(0);
  expect(await said).toBe('');
});

test('Ctrl+C ends a command with exit code 130', async () => {
  // A database that accepts the connection and never responds, so that the command waits.
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const { child, code } = start(['migrate'], {
    env: { DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/none` },
  });
  const [waiting] = (await once(silent, 'connection')) as [Socket];
  child.kill('SIGINT');
  expect(await code).toBe(130);
  waiting.destroy();
  silent.close();
});

test('The command line refuses an unsupported version of Node.js with exit code 2', async () => {
  const old = 'Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.11.1"}})';
  const nodeOptions = [`--import=data:text/javascript,${encodeURIComponent(old)}`];
  const { code, out, err } = await runProgram(['start'], { nodeOptions });
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/^[^\n]*\b24\b[^\n]*\b20\.11\.1\b[^\n]*\n$/);
});

describeSqliteDesk('The command `attempts list`', (desk) => {
  test('prints a long list completely into a pipe', async () => {
    const { unknown, env } = desk();
    const begun = await Promise.all(Array.from({ length: 500 }, () => unknown()));
    const { code, out } = await runProgram(['attempts', 'list', '--jsonl'], { env });
    expect(code).toBe(0);
    const lines = out.trimEnd().split('\n');
    const listed = new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id));
    expect(begun.filter(({ id }) => !listed.has(id))).toEqual([]);
  });
});
