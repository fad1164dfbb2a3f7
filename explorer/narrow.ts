/** Whether the page is too narrow for panel, operation and answer side by side; the same width as in style.css. */
export const isNarrow = (): boolean => matchMedia('(width < 760px)').matches;
