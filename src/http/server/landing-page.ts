import type { ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import { ApolloServerPluginLandingPageLocalDefault } from '@apollo/server/plugin/landingPage/default';
import { STARTER_DOCUMENT, STARTER_VARIABLES } from './starter-document';

export interface LandingPageOptions {
  /** Whether browsers get Apollo Sandbox at /graphql. Its scripts are loaded from the internet. */
  hasLandingPage: boolean;
  /** Whether the explorer is served at /explorer. The landing page links to it until Apollo Sandbox is loaded. */
  hasExplorer: boolean;
}

/**
 * Returns an Apollo plugin that serves Apollo Sandbox at /graphql, with a link to the explorer if `hasExplorer` is
 * true; or no page if `hasLandingPage` is false.
 */
export function landingPagePlugin({ hasLandingPage, hasExplorer }: LandingPageOptions): ApolloServerPlugin {
  if (!hasLandingPage) return ApolloServerPluginLandingPageDisabled();
  const apolloSandbox: ApolloServerPlugin = ApolloServerPluginLandingPageLocalDefault({
    footer: false,
    includeCookies: false,
    document: STARTER_DOCUMENT,
    variables: STARTER_VARIABLES,
    embed: { runTelemetry: false },
  });
  if (!hasExplorer) return apolloSandbox;
  return {
    ...apolloSandbox,
    serverWillStart: async (serverContext) => {
      const serverListener = await apolloSandbox.serverWillStart?.(serverContext);
      const landingPage = await serverListener?.renderLandingPage?.();
      if (!serverListener || !landingPage)
        throw new TypeError(
          'The landing page plugin of this version of Apollo Server returns no page, so the gateway cannot start. Install the versions in package-lock.json (npm ci).',
        );
      const { html } = landingPage;
      const renderHtmlWithLink = async () => addExplorerLink(typeof html === 'string' ? html : await html());
      return { ...serverListener, renderLandingPage: async () => ({ html: renderHtmlWithLink }) };
    },
  };
}

/**
 * Adds a link to the explorer to Apollo's landing page, visible until the scripts of Apollo Sandbox are loaded. A style
 * hides the frame of Apollo Sandbox while the frame is empty, because it would cover the link.
 */
function addExplorerLink(html: string): string {
  const [, nonce = ''] = /<style nonce="?([0-9a-f]+)/.exec(html) ?? [];
  const styleElement = `<style nonce="${nonce}">#embeddableSandbox:empty { display: none; }</style>`;
  const linkParagraph =
    '<p>This gateway has its own explorer, which loads nothing from other hosts: <a href="explorer">open the explorer</a>.</p>';
  return html.replace(/(<div class="fallback">.*?)(<\/div>)/s, `$1${linkParagraph}$2${styleElement}`);
}
