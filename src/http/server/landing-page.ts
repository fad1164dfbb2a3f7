import type { ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import { ApolloServerPluginLandingPageLocalDefault } from '@apollo/server/plugin/landingPage/default';
import { STARTER_DOCUMENT, STARTER_VARIABLES } from './starter-document';

/** The page that browsers get at /graphql. */
export interface LandingPageOptions {
  /** Whether it gets Apollo Sandbox, whose scripts come from the internet. */
  landingPage: boolean;
  /** Whether there is a page at /explorer to point to. */
  explorer: boolean;
}

type Plugin = ApolloServerPlugin;

/** Apollo Sandbox at /graphql. Where its scripts cannot be loaded it points to the explorer, if there is one. */
export function landingPagePlugin({ landingPage, explorer }: LandingPageOptions): Plugin {
  if (!landingPage) return ApolloServerPluginLandingPageDisabled();
  const sandbox: Plugin = ApolloServerPluginLandingPageLocalDefault({
    footer: false,
    includeCookies: false,
    document: STARTER_DOCUMENT,
    variables: STARTER_VARIABLES,
    embed: { runTelemetry: false },
  });
  return explorer ? pointingToExplorer(sandbox) : sandbox;
}

const pointingToExplorer = (sandbox: Plugin): Plugin => ({
  ...sandbox,
  serverWillStart: async (service) => {
    const listener = await sandbox.serverWillStart?.(service);
    const page = await listener?.renderLandingPage?.();
    if (!listener || !page) throw new TypeError('Apollo Server has no landing page.');
    const { html } = page;
    const pointing = async (): Promise<string> =>
      withExplorer(typeof html === 'string' ? html : await html());
    return { ...listener, renderLandingPage: () => Promise.resolve({ html: pointing }) };
  },
});

/**
 * Apollo's page with a link to the explorer in the text that is shown until its scripts are loaded. Its
 * frame lies above the text: it is taken away while it is empty, so that the link can be clicked. The style has the nonce
 * of the page's own policy.
 */
function withExplorer(html: string): string {
  const [, nonce = ''] = /<style nonce="?([0-9a-f]+)/.exec(html) ?? [];
  const style = `<style nonce="${nonce}">#embeddableSandbox:empty { display: none; }</style>`;
  const link =
    '<p>The explorer of this gateway needs no other host: <a href="explorer">open the explorer</a>.</p>';
  return html.replace(/(<div class="fallback">.*?)(<\/div>)/s, `$1${link}$2${style}`);
}
