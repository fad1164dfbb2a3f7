import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';

/** HTML markup that the template tag `html` inserts unescaped. The tag escapes all other values. */
export class Html {
  constructor(readonly markup: string) {}
}

const ESCAPE_BY_CHARACTER: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

type TemplateValue = string | number | Html | readonly Html[] | undefined;

function toMarkup(value: TemplateValue): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(({ markup }) => markup).join('');
  return String(value).replace(/[&<>"']/g, (character) => ESCAPE_BY_CHARACTER[character] ?? '');
}

export function html(strings: TemplateStringsArray, ...values: TemplateValue[]): Html {
  return new Html(strings.map((literalMarkup, index) => literalMarkup + toMarkup(values[index])).join(''));
}

/** Creates an inline style or script, and its hash as a source expression for the content security policy. */
export const hashedElement = (tag: 'style' | 'script', content: string) => ({
  element: new Html(`<${tag}>${content}</${tag}>`),
  hashSource: `'sha256-${hash('sha256', content, 'base64')}'`,
});

const PAGE_STYLE = hashedElement(
  'style',
  `
:root { color-scheme: light dark; --ink: #1d2433; --soft: #5b6577; --line: #d9dee8; --card: #fff; --back: #eef1f6; --main: #2457d6; --on-main: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ecf4; --soft: #9aa5b8; --line: #343d4e; --card: #1c2330; --back: #11161f; --main: #7aa2ff; --on-main: #0d1424; }
}
* { box-sizing: border-box; }
body { margin: 0; padding: 1.5rem 1rem; background: var(--back); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 26rem; margin: 4vh auto; padding: 1.75rem; background: var(--card); border: 1px solid var(--line); border-radius: 14px; }
main.wide { max-width: 76rem; margin: 0 auto; }
h1 { margin: 0 0 .25rem; font-size: 1.25rem; }
h2 { margin: 1.5rem 0 .5rem; font-size: 1rem; }
.amount { margin: .5rem 0 1rem; font-size: 2rem; line-height: 1.25; font-weight: 650; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.soft, dt, th, small { color: var(--soft); }
dl { display: grid; grid-template-columns: auto 1fr; gap: .35rem 1rem; margin: 0 0 1.25rem; }
dt::first-letter { text-transform: uppercase; }
dd { margin: 0; overflow-wrap: anywhere; }
form { display: inline-flex; flex-wrap: wrap; gap: .4rem; align-items: end; margin: 0; }
.choices form { display: block; margin-top: .6rem; }
button, a.button, input, select { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 8px; padding: .25rem .6rem; }
button { cursor: pointer; }
.choices button, a.button { display: block; width: 100%; padding: .75rem; text-align: center; font-size: 1rem; overflow-wrap: anywhere; }
button.main, a.button { background: var(--main); border-color: var(--main); color: var(--on-main); text-decoration: none; }
a { color: var(--main); }
:focus-visible { outline: 3px solid var(--main); outline-offset: 2px; }
.scroll { overflow-x: auto; }
.feed { max-height: 14rem; overflow-y: auto; }
table { width: 100%; border-collapse: collapse; font-size: .875rem; }
th, td { padding: .4rem .6rem; text-align: left; border-bottom: 1px solid var(--line); white-space: nowrap; }
td.id { min-width: 10.5rem; max-width: 16rem; white-space: normal; overflow-wrap: anywhere; }
td.status { min-width: 9rem; white-space: normal; overflow-wrap: anywhere; }
td form + form { margin-left: .3rem; }
input[type='number'] { width: 6.5rem; }
label { display: grid; font-size: .8rem; color: var(--soft); }
`,
);

interface Page {
  status?: number;
  title: string;
  body: Html;
  isWide?: boolean;
  /** Script at the end of the page. The content security policy allows it to connect to the sandbox only. */
  script?: ReturnType<typeof hashedElement>;
  /**
   * Origin or scheme to which the page's forms may redirect, besides the sandbox itself. It becomes a source of
   * `form-action` in the content security policy.
   */
  formActionSource?: string;
}

/**
 * Sends an HTML page. Its content security policy allows only the page's own style and script, connections of the
 * script to the sandbox, and forms that lead to the sandbox or to `formActionSource`.
 */
export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  const { status = 200, title, body, isWide, script, formActionSource } = page;
  const formActionSources = formActionSource ? `'self' ${formActionSource}` : "'self'";
  const scriptDirectives = script ? ` script-src ${script.hashSource}; connect-src 'self';` : '';
  const pageText = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        ${PAGE_STYLE.element}
      </head>
      <body>
        <main class="${isWide ? 'wide' : ''}">${body}</main>
        ${script?.element}
      </body>
    </html> `.markup;
  return reply
    .code(status)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src ${PAGE_STYLE.hashSource};${scriptDirectives} form-action ${formActionSources}; base-uri 'none'; frame-ancestors 'none'`,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      // Do not use `no-referrer`: browsers would send forms with `Origin: null`, which the console rejects.
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
    })
    .send(pageText);
}

/**
 * Returns the origin of a URL as a source for the content security policy (CSP). If CSP cannot express the host, for
 * example an IPv6 address, returns only the scheme.
 */
export function cspSourceOfUrl(url: string): string {
  const { protocol, origin } = new URL(url);
  return /^https?:\/\/[a-z0-9.-]+(:\d+)?$/.test(origin) ? origin : protocol;
}
