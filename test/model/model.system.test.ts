import { spawnSync } from 'node:child_process';
import { describeWhere, lacking } from '../deploy/support/files';

jest.setTimeout(300_000);

describeWhere(lacking('spin', 'gcc'), 'The model of the money protocol', () => {
  /** A few of the runs of `npm run model`. */
  test('has the properties that it must have, and a mutated one has not', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['model/run.mjs', '--quick'], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/ fails \| fails /);
  });
});
