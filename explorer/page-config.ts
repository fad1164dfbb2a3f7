/** What the gateway says of itself in the page. */
export interface Facts {
  /** Whether the service behind it is the embedded sandbox: then nothing costs real money. */
  sandbox: boolean;
  /** Whether callers must say who they are. */
  credentials: boolean;
}

const { service, callers } = document.documentElement.dataset;

export const FACTS: Facts = { sandbox: service === 'sandbox', credentials: callers === 'known' };
