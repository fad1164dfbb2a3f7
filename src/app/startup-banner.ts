import { STARTER_VARIABLES } from '../http/server/starter-document';

interface BannerOptions {
  gatewayUrl: string;
  sandboxUrl: string;
  hasExplorer: boolean;
  /** Whether requests must be authenticated. If so, the printed command has an Authorization header to fill in. */
  requiresCredentials: boolean;
}

/** Returns the text that `npm start` prints with the embedded sandbox: URLs, and a command that creates a payment. */
export const startupBanner = ({
  gatewayUrl,
  sandboxUrl,
  hasExplorer,
  requiresCredentials,
}: BannerOptions): string => `
paygraph is listening.

  GraphQL        ${gatewayUrl}/graphql   (open it in a browser for Apollo Sandbox)
${hasExplorer ? `  explorer       ${gatewayUrl}/explorer   (example operations for every flow; loads nothing from the internet)\n` : ''}  sandbox        ${sandboxUrl}   (the embedded payment service: an API, not a page; moves no real money)

Create a payment; paste this into another terminal:

  curl -s ${gatewayUrl}/graphql -H 'content-type: application/json'${requiresCredentials ? ' -H "authorization: Bearer <key>"' : ''} -d '{"query":"mutation { createPayment(input: { idempotencyKey: \\"first-payment\\", channel: \\"${STARTER_VARIABLES.channel}\\", amount: { currency: \\"EUR\\", value: \\"10.00\\" }, method: { redirect: CARD } }) { ... on PaymentSuccess { payment { ... on PaymentResource { transactionId status nextAction { ... on RedirectAction { url } } } } } ... on UserError { message } } }"}'

Stop with Ctrl+C.

`;
