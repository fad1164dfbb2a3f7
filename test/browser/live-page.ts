import { scriptedService } from '../support/scripted-service';
import { CLIENT_KEY } from '../support/credentials';

const PAGE = `<!doctype html>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Order 1</title>
<link rel="icon" href="data:,">
<style>
  body { font: 18px/1.5 system-ui, sans-serif; margin: 3rem; }
  output { font-weight: bold; }
</style>
<main>
  <h1>Order 1</h1>
  <p>Your payment: <output>not known yet</output></p>
  <ol></ol>
</main>
<script>
  globalThis.states = [];
  globalThis.shown = ({ status }) => {
    states.push(status);
    document.querySelector('output').textContent = status;
    document.querySelector('ol').append(Object.assign(document.createElement('li'), { textContent: status }));
  };
</script>
<script type="module" src="/page.js"></script>`;

/** A shop's page that shows where a payment stands, on an origin of its own. */
export interface LivePage {
  /** Its origin, as a browser names it. */
  origin: string;
  url: string;
  /** Where the page fetches the token of whoever looks at it. */
  tokenUrl: string;
  /** The script of the page, from now on. */
  play(script: string): void;
}

export async function livePage(): Promise<LivePage> {
  let script = '';
  const { url } = await scriptedService(({ path }) => {
    if (path === '/page.js')
      return { status: 200, body: script, headers: { 'content-type': 'text/javascript' } };
    if (path === '/token')
      return { status: 200, body: CLIENT_KEY, headers: { 'content-type': 'text/plain' } };
    return { status: 200, body: PAGE, headers: { 'content-type': 'text/html' } };
  });
  return {
    origin: new URL(url).origin,
    url,
    tokenUrl: `${url}token`,
    play: (next) => {
      script = next;
    },
  };
}
