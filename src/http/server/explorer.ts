import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EXPLORER_HEADERS } from './security-headers';
import { addStartPage } from './start-page';

interface ExplorerOptions {
  /** Whether the service is the embedded sandbox: the page says whether money moves. */
  sandbox: boolean;
  /** Whether callers must say who they are: the page then asks for a key or a token. */
  credentials: boolean;
}

/** What the build made of explorer/, beside the compiled gateway; there too when the sources run without a build. */
const DIRECTORY = path.resolve(__dirname, '../../../dist/explorer');

/** Only files of these types are served, below /explorer/. */
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/** The build puts the hash of what is in a file into its name. */
const HASHED = /-[A-Z0-9]{8}\./;
const FOR_EVER = 'public, max-age=31536000, immutable';

/** One representation of a file. */
interface Content {
  bytes: Buffer;
  /** A strong validator. */
  etag: string;
}

/** Adds /explorer, a GraphQL IDE for browsers, its assets, which are read when they are first asked for, and / with a link to it. */
export function addExplorer(app: FastifyInstance, options: ExplorerOptions): void {
  addStartPage(app, { landingPage: options.sandbox });
  const page = remember(async () => {
    const html = await readFile(path.join(DIRECTORY, 'index.html'), 'utf8');
    const service = options.sandbox ? 'sandbox' : 'real';
    const callers = options.credentials ? 'known' : 'anybody';
    return html.replace('{service}', service).replace('{callers}', callers);
  });
  const asset = remember((name) => readFile(path.join(DIRECTORY, name)));

  app.get('/explorer', async (request, reply) => {
    const content = await page('');
    if (!content) return reply.callNotFound();
    void reply.headers(EXPLORER_HEADERS).type('text/html; charset=utf-8').header('cache-control', 'no-cache');
    return send(request, reply, content);
  });
  app.get<{ Params: { name: string } }>('/explorer/:name', async (request, reply) => {
    const { name } = request.params;
    const type = TYPES[path.extname(name)];
    if (!type || !/^[\w.-]+$/.test(name)) return reply.callNotFound();
    const [encoding, suffix] = encodingFor(request.headers['accept-encoding']);
    const content = await asset(name + suffix);
    if (!content) return reply.callNotFound();
    if (encoding) void reply.header('content-encoding', encoding);
    void reply
      .type(type)
      .header('vary', 'accept-encoding')
      .header('cache-control', HASHED.test(name) ? FOR_EVER : 'no-cache');
    return send(request, reply, content);
  });
}

/** Reads each file once: all who download it share its bytes. What is not there is looked for again. */
function remember(read: (name: string) => Promise<Buffer | string>) {
  const known = new Map<string, Content>();
  return async (name: string): Promise<Content | undefined> => {
    const kept = known.get(name);
    if (kept) return kept;
    try {
      const bytes = Buffer.from(await read(name));
      const content = { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
      known.set(name, content);
      return content;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  };
}

/** The best of what the build made that the client takes: the encoding, and the end of the file's name. */
function encodingFor(accepted = ''): [encoding: string | null, suffix: string] {
  const taken = accepted
    .split(',')
    .map((one) => one.trim().toLowerCase())
    .filter((one) => !/;\s*q=0(\.0*)?$/.test(one))
    .map((one) => one.split(/[\s;]/, 1)[0]);
  if (taken.includes('br')) return ['br', '.br'];
  return taken.includes('gzip') ? ['gzip', '.gz'] : [null, ''];
}

/** Answers with the content, or that the client has it already. */
function send({ headers }: FastifyRequest, reply: FastifyReply, { bytes, etag }: Content): FastifyReply {
  void reply.header('etag', etag);
  const has = (headers['if-none-match'] ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return has.includes(etag) || has.includes('*') ? reply.code(304).send() : reply.send(bytes);
}
