import { Counter, Gauge, type Registry } from 'prom-client';

/** The label value of values beyond the limit, and of unknown ones. */
export const OTHER = 'other';

/**
 * Limits the number of values of a label: the first ones are kept, later ones become `other`.
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

/** Registers a gauge that is read at each scrape; without a value where `read` resolves with null. */
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

/** Registers a gauge with one label that is read at each scrape, by label value. */
export function registerGauges(
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

/** Registers a counter whose total is read at each scrape. */
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
