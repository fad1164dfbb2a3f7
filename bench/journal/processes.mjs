// Measured parts run in their own processes and are controlled by messages, one at a time.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import process from 'node:process';

/** Starts a program with its options. Resolves when it is ready, with its `ready` value and functions to control it. */
export async function start(program, options) {
  const child = fork(path.join(import.meta.dirname, program), [JSON.stringify(options)]);
  const exited = once(child, 'exit');
  const next = async () => {
    const answer = await Promise.race([once(child, 'message'), exited.then(() => [{ error: 'It exited.' }])]);
    if (answer[0].error) throw new Error(`${program}: ${answer[0].error}`);
    return answer[0].result;
  };
  const ready = await next();
  return {
    ready,
    pid: child.pid,
    ask(question = {}) {
      const answer = next();
      child.send(question);
      return answer;
    },
    async stop() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

/** The child's side: starts with the options, responds to messages, and stops when the parent disconnects. */
export async function serve(begin) {
  const tell = (work) =>
    work.then(
      (result) => process.send?.({ result }),
      (error) => process.send?.({ error: error.stack ?? String(error) }),
    );
  const begun = begin(JSON.parse(process.argv[2]));
  process.on('message', (question) => tell(begun.then(({ answer }) => answer(question))));
  process.on('disconnect', () => void begun.then(({ stop }) => stop()).finally(() => process.exit()));
  await tell(begun.then(({ ready }) => ready));
}
