// Loaded before the program: counts the promises that the program creates, and prints the count on SIGUSR2.
const { createHook } = require('node:async_hooks');
const process = require('node:process');

let promises = 0;
let asked = 0;
createHook({
  init(_id, type) {
    if (type === 'PROMISE') promises += 1;
  },
}).enable();
process.on('SIGUSR2', () => {
  asked += 1;
  process.stderr.write(`count ${asked}: ${promises} promises\n`);
});
