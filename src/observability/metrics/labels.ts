/**
 * Keeps the values of a label few: the first ones that come keep their own, the others are counted together.
 * @param max how many distinct values there may be
 */
export function boundedLabel(max: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= max) return OTHER;
    known.add(value);
    return value;
  };
}

/** What the values are counted as that are one too many, and those that nobody knows. */
export const OTHER = 'other';
