const { service, callers } = document.documentElement.dataset;

/** Settings of the gateway, from attributes of the page. */
export const PAGE_CONFIG = {
  /** Whether the gateway uses the embedded sandbox. */
  sandbox: service === 'sandbox',
  /** Whether callers are authenticated. */
  credentials: callers === 'known',
};

/** Whether the page is too narrow for three columns; the same width as in style.css. */
export const isNarrow = (): boolean => matchMedia('(width < 760px)').matches;
