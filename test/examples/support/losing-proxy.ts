import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeAfterTests } from '../../support/gateway';

/** How the first request of a kind ends. */
export type Loss =
  /** It is carried out, and the connection is cut before the response. */
  | 'response'
  /** It is carried out, and the connection is cut after the first server-sent event. */
  | 'stream'
  /** It is refused by something in between, which says when to come back. */
  | 'refused';

/**
 * Starts a proxy in front of a gateway that spoils the first request of each kind. Returns its URL.
 * @param losses by the name of the root field that a request asks for
 */
export async function startLosingProxy(
  gateway: string,
  losses: Readonly<Record<string, Loss>>,
): Promise<{ url: string; lost: string[] }> {
  const lost: string[] = [];
  const lossOf = (query: string): Loss | undefined => {
    const field = Object.keys(losses).find((name) => new RegExp(`\\b${name}\\(`).test(query));
    if (field === undefined || lost.includes(field)) return undefined;
    lost.push(field);
    return losses[field];
  };
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await request.toArray());
    const loss = lossOf((JSON.parse(body.toString()) as { query: string }).query);
    if (loss === 'refused')
      return void response.writeHead(503, { 'retry-after': '1' }).end('<html>Come back later.</html>');
    const { authorization = '', accept = '*/*' } = request.headers;
    const answer = await fetch(new URL(request.url ?? '', gateway), {
      method: 'POST',
      headers: { authorization, accept, 'content-type': 'application/json' },
      body,
    });
    if (loss === 'response') return void (await answer.text().then(() => request.socket.resetAndDestroy()));
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    for await (const chunk of answer.body ?? []) {
      response.write(chunk);
      if (loss === 'stream' && Buffer.from(chunk as Uint8Array).includes('event: next'))
        return void setImmediate(() => request.socket.destroy());
    }
    response.end();
  };
  const server = createServer((request, response) => void forward(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeAfterTests({
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, lost };
}
