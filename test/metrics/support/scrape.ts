import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';

type Labels = Record<string, string>;

interface Sample {
  /** Name of the sample; samples of a histogram end in _bucket, _sum or _count. */
  name: string;
  labels: Labels;
  value: number;
}

/** A parsed page of metrics. */
export class Scrape {
  /** Type by metric: counter, gauge, histogram or summary. */
  readonly types = new Map<string, string>();
  readonly samples: Sample[] = [];

  constructor(readonly text: string) {
    for (const line of text.split('\n')) {
      const [, metric, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
      if (metric !== undefined && type !== undefined) this.types.set(metric, type);
      const [, name, labels = '', value] = /^([a-z]\w*)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? [];
      if (name === undefined) continue;
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
      const read = Object.fromEntries(pairs.map(([, key = '', text = '']) => [key, text]));
      this.samples.push({ name, labels: read, value: Number(value) });
    }
  }

  /** Returns the sum of all samples with this name and these labels; 0 if there are none. */
  sum(name: string, labels: Labels = {}): number {
    return this.find(name, labels).reduce((sum, { value }) => sum + value, 0);
  }

  find(name: string, labels: Labels = {}): Sample[] {
    return this.samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, text]) => sample.labels[key] === text),
    );
  }
}

export async function ask(
  base: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; type: string }> {
  const asking = request(`${base}/metrics`, { headers, agent: false }).end();
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  return {
    status: response.statusCode ?? 0,
    text: await readText(response),
    type: String(response.headers['content-type']),
  };
}

export async function scrape(base: string): Promise<Scrape> {
  const { status, text } = await ask(base);
  if (status !== 200) throw new Error(`/metrics: ${status} ${text}`);
  return new Scrape(text);
}
