import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { printSchema } from 'graphql';
import { gatewaySchema } from '../../src/resolvers';

const root = path.resolve(__dirname, '../..');

test('schema.graphql is the schema that the gateway serves', () => {
  const committed = readFileSync(path.join(root, 'schema.graphql'), 'utf8');
  expect(committed.trimEnd()).toBe(printSchema(gatewaySchema()).trimEnd());
});

test('every file that codegen makes is as codegen makes it', () => {
  const codegen = path.join(root, 'node_modules/@graphql-codegen/cli/esm/bin.js');
  const done = spawnSync(process.execPath, [codegen, '--check', '--config', 'codegen.yml'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect({ status: done.status, said: done.status === 0 ? undefined : done.stderr + done.stdout }).toEqual({
    status: 0,
  });
});
