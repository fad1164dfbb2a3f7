import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { imageSays } from './support/dockerfile';
import {
  LONGEST_CALL_SECONDS,
  delaySeconds,
  describeWhere,
  envOf,
  graceSeconds,
  lacking,
  misread,
  notSettings,
  openFolder,
  textOf,
} from './support/files';

const UNIT = 'deploy/systemd/paygraph.service';

/** What a line of the unit sets, in order. */
const values = (name: string): string[] =>
  [...textOf(UNIT).matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

describe('The systemd unit', () => {
  const settings = envOf('deploy/systemd/paygraph.env');

  test('sets only settings that there are, to what the gateway understands', () => {
    const set = values('Environment').map((line) => line.split('=')[0] ?? '');
    expect(notSettings([...set, ...Object.keys(settings)])).toEqual([]);
    expect(misread(settings)).toEqual([]);
  });

  test('loads every credential that a setting names, and hands secrets over in no other way', () => {
    const loaded = values('LoadCredential').map((line) => line.split(':')[0]);
    const named = values('Environment').map((line) => /^[A-Z_]+_FILE=%d\/(.+)$/.exec(line)?.[1]);
    expect(named).toEqual(loaded);
    expect(Object.keys(settings).filter((name) => /KEY|TOKEN|SECRET|DATABASE/.test(name))).toEqual([]);
  });

  test('starts what the image starts', () => {
    const [node = '', ...words] = (values('ExecStart')[0] ?? '').split(' ');
    const image = [...imageSays('ENTRYPOINT').words, ...imageSays('CMD').words];
    expect([path.basename(node), ...words.map((word) => word.replace('/opt/paygraph/', ''))]).toEqual(image);
  });

  test('waits until what is under way has ended', () => {
    expect(graceSeconds(settings)).toBeGreaterThan(LONGEST_CALL_SECONDS);
    expect(Number(values('TimeoutStopSec')[0])).toBeGreaterThan(
      delaySeconds(settings) + graceSeconds(settings),
    );
  });
});

describeWhere(lacking('systemd-analyze'), 'systemd says of the unit', () => {
  /** The unit beside a program that is there. */
  function unitHere(): string {
    const folder = path.join(openFolder(), 'units');
    mkdirSync(folder);
    const file = path.join(folder, 'paygraph.service');
    writeFileSync(file, textOf(UNIT).replace('/usr/bin/node', process.execPath));
    return file;
  }
  const analyze = (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', words, { encoding: 'utf8' });
    return { status, says: status === 0 ? '' : stdout + stderr };
  };

  test('that it is right', () => {
    expect(analyze('verify', '--man=no', unitHere())).toEqual({ status: 0, says: '' });
  });

  test('that hardly anything on the machine is exposed to it', () => {
    // Of 100; a unit without any of it has 96.
    expect(analyze('security', '--offline=true', '--threshold=20', unitHere())).toEqual({
      status: 0,
      says: '',
    });
  });
});
