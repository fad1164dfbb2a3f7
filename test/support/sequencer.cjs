const { default: Sequencer } = require('@jest/test-sequencer');

const isSlow = ({ path }) => /[.](system|slow)[.]test[.]ts$/.test(path);

/** Starts the slow files first, so that none of them runs alone at the end. */
module.exports = class SlowFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter(isSlow), ...sorted.filter((test) => !isSlow(test))];
  }
};
