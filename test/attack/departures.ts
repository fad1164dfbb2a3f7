import { Wire, postText } from './wire';

/** How a client leaves: it closes its end, or breaks the connection. */
export type Leave = (wire: Wire) => void;

export const LEAVES: readonly (readonly [string, Leave])[] = [
  ['closes', (wire) => void wire.socket.end()],
  ['resets', (wire) => void wire.socket.resetAndDestroy()],
];

/** A point at which a client can leave. */
export interface Departure {
  name: string;
  /** What it has sent by then, of a whole request. */
  sends(request: string): string;
  /** Whether it waits for the first byte of the answer. */
  waits?: boolean;
}

const headEnd = (request: string): number => request.indexOf('\r\n\r\n') + 4;

export const DEPARTURES: readonly Departure[] = [
  { name: 'having said nothing', sends: () => '' },
  { name: 'in the first line', sends: (request) => request.slice(0, 9) },
  { name: 'in the headers', sends: (request) => request.slice(0, headEnd(request) - 20) },
  { name: 'before the body', sends: (request) => request.slice(0, headEnd(request)) },
  { name: 'in the body', sends: (request) => request.slice(0, headEnd(request) + 10) },
  { name: 'before the answer', sends: (request) => request },
  { name: 'during the answer', sends: (request) => request, waits: true },
  { name: 'with ten requests under way', sends: (request) => request.repeat(10) },
];

/** Comes, sends as much of a POST of that body as the departure says, and leaves. */
export async function comeAndLeave(
  url: string,
  { sends, waits = false }: Departure,
  body: string,
  { headers, leave }: { headers: readonly string[]; leave: Leave },
): Promise<void> {
  const wire = await Wire.open(url);
  wire.write(sends(postText(body, [`Host: ${new URL(url).host}`, ...headers])));
  if (waits) await wire.something();
  leave(wire);
  wire.socket.resume();
  await wire.closed;
}
