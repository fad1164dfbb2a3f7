import { Counter, Gauge, type Registry } from 'prom-client';

/** Label value that replaces unknown values and values beyond a limit. */
export const OTHER = 'other';

/**
 * Returns a function that limits the values of a label: it keeps the first ones and replaces further ones by `other`.
 * @param max maximum number of distinct values
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

/** Registers a gauge that is read at each scrape. It has no value while `read` returns null. */
export function registerGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | null | Promise<number | null>,
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await read();
      if (value === null) this.remove();
      else this.set(value);
    },
  });
}

/** Registers a gauge with one label. `read` is called at each scrape and returns a number for each label value. */
export function registerLabelledGauge(
  registry: Registry,
  { name, help, label }: { name: string; help: string; label: string },
  read: () => Readonly<Record<string, number>>,
): void {
  new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      for (const [value, count] of Object.entries(read())) this.set({ [label]: value }, count);
    },
  });
}

/** Registers a counter. `read` is called at each scrape and returns the total. */
export function registerCounter(registry: Registry, name: string, help: string, read: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}
