import { spawnSync } from 'node:child_process';
import { describeWhere, lacking } from '../deploy/support/files';
import { temporaryFolder } from '../support/cleanup';

function run(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

describeWhere(lacking('spin', 'gcc'), 'The formal model of the protocol of creates', () => {
  /** A few of the runs of `npm run model`. */
  test('satisfies the required properties, and violates one when a rule of the protocol is removed', () => {
    expect(run('model/run.mjs', '--quick')).toMatch(/ fails \| fails /);
  });

  test('has a trace that the simulation reproduces, and a trace on which code with a planted bug violates an invariant', () => {
    const folder = temporaryFolder();
    for (const name of ['never: inserted again', 'mutation: a POST is repeated'])
      run('model/run.mjs', '--only', name, '--trails', folder);
    const replayed = run('scripts/run-harness.mjs', 'model', folder);
    expect(replayed).toContain('{"agree":1,"found":1,"unexpressed":0,"wrong":0}');
  });
});
