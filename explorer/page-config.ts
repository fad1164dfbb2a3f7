/** Settings of the gateway, from attributes of the page. */
export interface PageConfig {
  /** Whether the gateway uses the embedded sandbox. */
  sandbox: boolean;
  /** Whether callers are authenticated. */
  credentials: boolean;
}

const { service, callers } = document.documentElement.dataset;

export const PAGE_CONFIG: PageConfig = { sandbox: service === 'sandbox', credentials: callers === 'known' };
