import { createServer, type IncomingMessage, type ServerResponse, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { closeAfterTests } from './gateway';

/** A request as it arrived, byte for byte. */
export interface SeenRequest {
  method: string;
  path: string;
  /** Without the question mark. */
  query: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** The body read as JSON; undefined where there is none. */
  json: Record<string, unknown>;
}

export type Reply =
  | { status: number; json?: unknown; body?: string | Buffer; headers?: Record<string, string> }
  /** Does with the connection what it wants. */
  | ((response: ServerResponse, socket: Socket) => void);

type Script = (request: SeenRequest) => Reply | Promise<Reply>;

/** A service that answers what the test says and remembers what it was sent. */
export interface ScriptedService {
  /** Ends with a slash. */
  url: string;
  seen: SeenRequest[];
  /** How later requests are answered. */
  answer(script: Script): void;
  server: Server;
  close(): Promise<void>;
}

export async function scriptedService(
  script: Script = () => ({ status: 404, json: {} }),
): Promise<ScriptedService> {
  const seen: SeenRequest[] = [];
  let current = script;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
      const body = Buffer.concat(chunks).toString('utf8');
      const json = body === '' ? {} : (JSON.parse(body) as Record<string, unknown>);
      const arrived = { method: request.method ?? '', path, query, headers: request.headers, body, json };
      seen.push(arrived);
      void Promise.resolve(current(arrived)).then((reply) => send(reply, response, request.socket));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return closeAfterTests({
    url: `http://127.0.0.1:${port}/`,
    seen,
    server,
    answer: (next) => {
      current = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function send(reply: Reply, response: ServerResponse, socket: Socket): void {
  if (typeof reply === 'function') return reply(response, socket);
  const { status, json, body, headers } = reply;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body ?? JSON.stringify(json ?? {}));
}
