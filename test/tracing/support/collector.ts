import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeAfterTests } from '../../support/gateway';
import { spansIn, type SeenSpan } from './otlp';

/** An export as the collector received it. */
export interface SeenExport {
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
  /** Sets the response to later exports; by default they are accepted. */
  answer(reply: (response: ServerResponse) => void): void;
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const exports: SeenExport[] = [];
  let reply = (response: ServerResponse): void => void response.end();
  const server = createServer((request, response) => {
    void request.toArray().then((chunks: Buffer[]) => {
      exports.push({ url: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) });
      reply(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return closeAfterTests({
    url: `http://127.0.0.1:${port}`,
    exports,
    spans: () => exports.flatMap(({ body }) => spansIn(body)),
    answer: (next) => {
      reply = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
