import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { serverOf } from '../../support/http-server';
import { spansIn, type SeenSpan } from './otlp';

/** An export as the collector received it. */
interface SeenExport {
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A collector that receives traces by OTLP over HTTP and stores them. */
export interface Collector {
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  exports: SeenExport[];
  /** Returns all received spans. */
  spans(): SeenSpan[];
  /** Responds to an export; by default with 200. */
  answer: (response: ServerResponse) => void;
}

export async function startCollector(): Promise<Collector> {
  const exports: SeenExport[] = [];
  const url = await serverOf(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    exports.push({ url: request.url ?? '', headers: request.headers, body });
    collector.answer(response);
  });
  const collector: Collector = {
    url,
    exports,
    spans: () => exports.flatMap(({ body }) => spansIn(body)),
    answer: (response) => void response.end(),
  };
  return collector;
}
