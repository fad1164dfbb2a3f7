// Polling clients: each requests its payment once a second on its own connection.
import { Pool } from 'undici';
import { serve } from '../journal/processes.mjs';
import { now, sleep } from './clock.mjs';
import { AUTHORIZATION, QUERY, variablesFor } from './subscription.mjs';

const HEADERS = { 'content-type': 'application/json', authorization: AUTHORIZATION };

await serve(async ({ url, transactionIds, everyMs }) => {
  const pool = new Pool(url, { connections: transactionIds.length, pipelining: 1 });
  let polls = 0;
  let refused = 0;
  let stopped = false;

  const poll = async (transactionId) => {
    const body = JSON.stringify({ query: QUERY, variables: variablesFor(transactionId) });
    // Each client starts at a random time, because concurrent requests for one payment share a lookup.
    let due = now() + everyMs * Math.random();
    while (!stopped) {
      await sleep(due - now());
      const { body: answer } = await pool.request({
        method: 'POST',
        path: '/graphql',
        headers: HEADERS,
        body,
      });
      const { errors } = await answer.json();
      polls += 1;
      if (errors) refused += 1;
      // A client whose response was late skips to its next turn.
      while (due <= now()) due += everyMs;
    }
  };
  const all = transactionIds.map(poll);
  return {
    ready: null,
    answer: async () => ({ polls, refused }),
    async stop() {
      stopped = true;
      await Promise.all(all);
      await pool.close();
    },
  };
});
