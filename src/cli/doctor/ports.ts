import net from 'node:net';
import { failed, ok, skipped, wordOf, type Check, type Finding } from './check';

const ANSWER_MS = 2_000;

/** Whether the port of the gateway, and of the embedded sandbox, is free; or held by one of ours already. */
export const ports: Check = {
  name: 'ports',
  run: async ({ config: { host, port, sandbox } }) => {
    const gateway = await judge('PORT', host, port);
    if (!sandbox || sandbox.anyPortIfTaken) return [gateway];
    return [gateway, await judge('SANDBOX_PORT', '127.0.0.1', sandbox.port)];
  },
};

async function judge(setting: string, host: string, port: number): Promise<Finding> {
  if (port === 0) return skipped(`${setting} is 0: any free port is taken.`);
  const held = await whyNotFree(host, port);
  if (held === null) return ok(`Port ${port} is free.`);
  if (held !== 'EADDRINUSE')
    return failed(
      `Port ${port} of ${host} cannot be listened on (${held}).`,
      'HOST has to be an address of this machine; ports below 1024 need the right to them (CAP_NET_BIND_SERVICE).',
    );
  if (await isOurs(host, port)) return ok(`Port ${port} is served by a paygraph that runs already.`);
  return failed(
    `Port ${port} is held by another program.`,
    `End it (ss -ltnp shows it), or set ${setting} to another port.`,
  );
}

/** The system's word for why nobody can listen there; null when the port is free. Nothing is accepted meanwhile. */
function whyNotFree(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = net.createServer((socket) => socket.destroy());
    server.once('error', (error) => resolve(wordOf(error)));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/** Both gateway and sandbox say so at /healthz. */
async function isOurs(host: string, port: number): Promise<boolean> {
  const everywhere = ['0.0.0.0', '::'].includes(host);
  const name = everywhere ? '127.0.0.1' : net.isIPv6(host) ? `[${host}]` : host;
  try {
    const answer = await fetch(`http://${name}:${port}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS) });
    return (await answer.text()) === '{"status":"ok"}';
  } catch {
    return false;
  }
}
