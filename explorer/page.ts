const { service, callers } = document.documentElement.dataset;

/** Settings of the gateway, from data attributes of the page's <html> element. */
export const PAGE_CONFIG = {
  /** Whether the gateway uses the embedded sandbox. */
  sandbox: service === 'sandbox',
  /** Whether the gateway authenticates callers. */
  credentials: callers === 'known',
};

/** Whether the page is too narrow for three columns. This width must be equal to the width in style.css. */
export const isNarrow = (): boolean => matchMedia('(width < 760px)').matches;
