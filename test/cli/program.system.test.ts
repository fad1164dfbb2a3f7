import { once } from 'node:events';
import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import path from 'node:path';
import { temporaryLog, verify } from '../audit/support/files';
import { runProgram, start } from './support/run';
import { BECAUSE, describeSqliteDesk } from './support/settling';

test('EPIPE on stdout or stderr does not change the exit code', async () => {
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

test('An old Node.js is refused with exit code 2', async () => {
  const old = 'Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.11.1"}})';
  const nodeOptions = [`--import=data:text/javascript,${encodeURIComponent(old)}`];
  const { code, out, err } = await runProgram(['start'], { nodeOptions });
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/^[^\n]*\b24\b[^\n]*\b20\.11\.1\b[^\n]*\n$/);
});

describeSqliteDesk('attempts as a process', (desk) => {
  test('prints a long list completely into a pipe', async () => {
    const { unknown, env } = desk();
    const begun = await Promise.all(Array.from({ length: 500 }, () => unknown()));
    const { code, out } = await runProgram(['attempts', 'list', '--jsonl'], { env });
    expect(code).toBe(0);
    const lines = out.trimEnd().split('\n');
    const listed = new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id));
    expect(begun.filter(({ id }) => !listed.has(id))).toEqual([]);
  });

  const asRoot = process.getuid?.() === 0 ? test : test.skip;
  asRoot(
    'settles an attempt that one system user proposed and another approves (SKIPPED without root)',
    async () => {
      const { unknown, outcomeOf, env, auditFile, store } = desk();
      const { id } = await unknown();
      // Both users have the group of this process.
      const journalFolder = path.dirname(store.url.slice('file:'.length));
      writeFileSync(auditFile, '');
      chmodSync(path.dirname(auditFile), 0o777);
      chmodSync(path.dirname(journalFolder), 0o755);
      chmodSync(journalFolder, 0o770);
      for (const name of readdirSync(journalFolder)) chmodSync(path.join(journalFolder, name), 0o660);
      chmodSync(auditFile, 0o660);
      // The users "nobody" and "daemon" of every Linux.
      const proposer = { uid: 65_534, env: { ...env, SETTLE_APPROVAL: 'on' } };
      const approver = { uid: 1, env };
      const settle = ['attempts', 'settle', id, 'not_sent', ...BECAUSE];
      expect(await runProgram(settle, proposer)).toMatchObject({ code: 0 });
      const { out } = await runProgram(['attempts', 'proposals', '--json'], approver);
      const [proposal] = JSON.parse(out) as { id: string; proposedBy: string }[];
      expect(proposal).toMatchObject({ proposedBy: 'nobody' });
      const approve = ['attempts', 'approve', proposal!.id];
      expect(await runProgram(approve, proposer)).toMatchObject({ code: 1 });
      expect(await outcomeOf(id)).toBe('unknown');
      expect(await runProgram(approve, approver)).toMatchObject({ code: 0 });
      expect(await outcomeOf(id)).toBe('not_sent');
      expect((await verify(auditFile)).faults).toEqual([]);
    },
  );
});
