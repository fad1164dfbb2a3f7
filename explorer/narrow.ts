/** Whether the page is too narrow for three columns; the same width as in style.css. */
export const isNarrow = (): boolean => matchMedia('(width < 760px)').matches;
