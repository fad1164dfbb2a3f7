import process from 'node:process';
import { ok, warning, type Check } from './check';

/** The version of Node.js; one that is too old does not come this far. */
export const nodeVersion: Check = {
  name: 'node',
  run: () => [ok(`Node.js ${process.versions.node}.`)],
};

/** What is odd about the settings without being wrong. */
export const settings: Check = {
  name: 'settings',
  run: ({ config }) =>
    config.warnings.length === 0
      ? [ok('Every setting is as expected.')]
      : config.warnings.map((says) => warning(says, 'docs/configuration.md names every setting.')),
};
