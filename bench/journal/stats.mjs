// Statistics of measurements, and Markdown tables.

/** Returns a quantile of a sample; `part` is between 0 and 1. */
export function quantile(sample, part) {
  const sorted = [...sample].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

export const median = (sample) => quantile(sample, 0.5);

/** Returns median, minimum and maximum of the rounds. */
export const summary = (rounds) => ({
  median: median(rounds),
  least: Math.min(...rounds),
  most: Math.max(...rounds),
});

export const ms = (value) => value.toFixed(2);
export const perSecond = (value) => Math.round(value).toLocaleString('en');

/** Returns median, minimum and maximum as text: "1.20 (1.10–1.40)". */
export const spread = (rounds, format) => {
  const { median: middle, least, most } = summary(rounds);
  return `${format(middle)} (${format(least)}–${format(most)})`;
};

/** Returns a Markdown table in the form that docs/benchmarks.md uses. */
export function table(head, rows) {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column].length)),
  );
  const line = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
