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

export interface Watched {
  url: string;
  transactionId: string;
}

/** Pages of a shop that run the samples of docs/live-updates.md, on their own origin. */
export interface LivePages {
  origin: string;
  /** Returns the URL of a page that from now on runs the sample for this payment. */
  urlOf(sample: string, watched: Watched): Promise<string>;
}

export async function livePages(): Promise<LivePages> {
  const scripts = new Map<string, string>();
  const { url } = await testService(({ path }) => {
    const [, place = '', sample = ''] = path.split('/');
    const respond = (body: string, type: string) => ({
      status: 200,
      body,
      headers: { 'content-type': type },
    });
    if (place === 'script') return respond(scripts.get(sample) ?? '', 'text/javascript');
    if (place === 'token') return respond(CLIENT_KEY, 'text/plain');
    return respond(page(place), 'text/html');
  });
  return {
    origin: new URL(url).origin,
    urlOf: async (sample, watched) => {
      const surroundings = { ...watched, channel: CHANNEL, tokenUrl: '/token' };
      scripts.set(sample, await bundled(sample, surroundings, 'browser'));
      return `${url}${sample}`;
    },
  };
}
