import { writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { CLIENT_KEY } from '../support/credentials';
import { until } from '../support/latch';
import { closeAfterTests, temporaryFolder } from '../support/cleanup';
import { serverOf } from '../support/http-server';

export const EXAMPLES = path.resolve(__dirname, '../../examples');

export interface Run {
  output(): string;
  /** Resolves with the exit code when all output has been read; null when it was killed. */
  exited: Promise<number | null>;
  end(signal: NodeJS.Signals): Promise<void>;
}

/** Starts a program of the examples. `args` are the arguments of Node.js. */
function run(args: readonly string[], env: Record<string, string>, cwd = EXAMPLES): Run {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => void (text += chunk.toString()));
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  // On SIGTERM, the checkout ends the gateway that it has started.
  closeAfterTests({ close: () => end('SIGTERM') });
  return { output: () => text, exited, end };
}

/** Starts a program of the examples for a gateway, with the key of a folder of newFolder(). */
export const runWithKey = (program: string, url: string, folder: string, ...args: string[]): Run =>
  run(
    [path.join(EXAMPLES, program), ...args],
    { PAYGRAPH_URL: new URL(url).origin, PAYGRAPH_KEY_FILE: path.join(folder, 'key') },
    folder,
  );

/** Starts the checkout as `npm run example:checkout` does, and resolves with its addresses. */
export async function serveCheckout(env: Record<string, string>): Promise<{ url: string; gateway: string }> {
  const { output, exited } = run([path.join(EXAMPLES, 'checkout/serve.mjs')], env);
  const served = /is at (\S+) and uses the gateway at (\S+)\.\n/;
  const [, url = '', gateway = ''] =
    (await Promise.race([
      until(() => served.exec(output())),
      exited.then(() => Promise.reject(new Error(`The checkout ended before serving its page: ${output()}`))),
    ])) ?? [];
  return { url, gateway };
}

/** Creates a folder with a file `key`, which contains the key of the test client. */
export function newFolder(): string {
  const folder = temporaryFolder();
  writeFileSync(path.join(folder, 'key'), `${CLIENT_KEY}\n`);
  return folder;
}

/** How the first request for a root field ends. */
export type Loss =
  /** The request is carried out, and the connection is cut before the response. */
  | 'response'
  /** The request is carried out, and the connection is cut after the first server-sent event. */
  | 'stream'
  /** The request is refused with 503 and Retry-After. */
  | 'refused';

/** Starts a proxy of a gateway. The first request for each root field in `losses` ends as given there. */
export async function startLossyProxy(
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
  return { url: await serverOf((request, response) => void forward(request, response)), lost };
}
