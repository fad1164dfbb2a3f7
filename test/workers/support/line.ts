import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { until } from '../../exactly-once/support/gate';
import { Caller } from '../../exactly-once/support/caller';
import type { Program } from '../../exactly-once/support/program';
import { AUTHORIZED } from '../../support/credentials';

/** A caller with one kept connection: all that it asks reaches one worker. */
export class Line extends Caller {
  readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  /** Names the process at the other end. */
  pid = 0;

  /** Opens one, and finds out whom it leads to: every line of the gateway's log tells the process. */
  static async open(program: Pick<Program, 'output'>, base: string): Promise<Line> {
    const line = new Line(base);
    const { headers } = await line.send('{ __typename }', {});
    const id = String(headers['x-request-id']);
    const [, pid] = await until(
      () => new RegExp(`"pid":(\\d+),"requestId":"${id}"`).exec(program.output()) ?? [],
      (found) => found.length > 0,
    );
    line.pid = Number(pid);
    return line;
  }

  /** Asks, whatever comes of it. */
  async status(query: string, variables: object = {}): Promise<number> {
    return (await this.send(query, variables)).status;
  }

  override async ask<D>(query: string, variables: object = {}): Promise<{ data: D; errors?: never }> {
    const { body } = await this.send(query, variables);
    return JSON.parse(body) as { data: D };
  }

  async send(
    query: string,
    variables: object,
  ): Promise<{ status: number; headers: IncomingMessage['headers']; body: string }> {
    const asking = request(this.url, {
      method: 'POST',
      agent: this.agent,
      headers: { 'content-type': 'application/json', ...AUTHORIZED },
    });
    asking.end(JSON.stringify({ query, variables }));
    const response = await new Promise<IncomingMessage>((resolve, reject) =>
      asking.once('response', resolve).once('error', reject),
    );
    return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
  }

  close(): void {
    this.agent.destroy();
  }
}
