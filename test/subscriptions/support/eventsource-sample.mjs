// An EventSource with a token: the sample of docs/live-updates.md with the package that it names. Bundled like the samples.
/* global PAYMENT_UPDATED, channel, transactionId, getToken, show, URLSearchParams */
import { EventSource } from 'eventsource';

const params = new URLSearchParams({
  query: PAYMENT_UPDATED,
  variables: JSON.stringify({ channel, transactionId }),
});

function watch() {
  const source = new EventSource(`https://gateway.example/graphql/stream?${params}`, {
    fetch: async (url, init) =>
      fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${await getToken()}` } }),
  });
  let code;
  source.addEventListener('next', (event) => {
    const { data, errors } = JSON.parse(event.data);
    if (data) show(data.paymentUpdated);
    code = errors?.[0].extensions.code;
  });
  source.addEventListener('complete', () => {
    source.close();
    if (code === 'UNAUTHENTICATED') watch();
  });
}

watch();
