import { randomUUID } from 'node:crypto';
import { bundled } from '../subscriptions/support/doc-samples';
import { CLIENT_KEY } from '../support/credentials';
import { CHANNEL, testService } from '../support/gateway';

const page = (sample: string): string => `<!doctype html>
<meta charset="utf-8">
<title>Order 1</title>
<link rel="icon" href="data:,">
<p>Your payment: <output></output></p>
<script>
  globalThis.states = [];
  globalThis.shown = ({ status }) => {
    states.push(status);
    document.querySelector('output').textContent = status;
  };
</script>
<script type="module" src="/script/${sample}"></script>`;

/** Placeholders in the bundles, replaced when a script is requested. */
const PLACEHOLDER = { origin: '//gateway.invalid', transactionId: randomUUID() };

export interface Watched {
  url: string;
  transactionId: string;
}

/** Pages of a shop that run the samples of docs/live-updates.md, on their own origin. */
export interface LivePages {
  origin: string;
  /** Returns the URL of a page that from now on runs the sample for this payment. */
  urlOf(sample: string, watched: Watched): string;
}

const SURROUNDINGS = {
  url: `http:${PLACEHOLDER.origin}/graphql`,
  channel: CHANNEL,
  transactionId: PLACEHOLDER.transactionId,
  tokenUrl: '/token',
};

const scripts = new Map<string, string>();

export async function livePages(samples: readonly string[]): Promise<LivePages> {
  const watchedBy = new Map<string, Watched>();
  const { url } = await testService(({ path }) => {
    const [, place = '', sample = ''] = path.split('/');
    if (place === 'script') return javascript(scripts.get(sample) ?? '', watchedBy.get(sample));
    if (place === 'token')
      return { status: 200, body: CLIENT_KEY, headers: { 'content-type': 'text/plain' } };
    return { status: 200, body: page(place), headers: { 'content-type': 'text/html' } };
  });
  for (const sample of samples)
    if (!scripts.has(sample)) scripts.set(sample, await bundled(sample, SURROUNDINGS, 'browser'));
  return {
    origin: new URL(url).origin,
    urlOf: (sample, watched) => {
      watchedBy.set(sample, watched);
      return `${url}${sample}`;
    },
  };
}

const javascript = (bundle: string, watched: Watched | undefined) => ({
  status: 200,
  body: bundle
    .replaceAll(PLACEHOLDER.origin, `//${new URL(watched?.url ?? '').host}`)
    .replaceAll(PLACEHOLDER.transactionId, watched?.transactionId ?? ''),
  headers: { 'content-type': 'text/javascript' },
});
