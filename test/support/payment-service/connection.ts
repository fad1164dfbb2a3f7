import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ReceivedHttpRequest {
  method: string;
  path: string;
  query: string;
  parameters: URLSearchParams;
  headers: Record<string, string>;
  body: string;
  /** The parsed body; `{}` if there is none. */
  json: Record<string, unknown>;
}

export interface ServiceResponse {
  status: number;
  json: unknown;
  headers?: Record<string, string>;
}

/** Returns the bytes of an HTTP response; `body` replaces the JSON. */
export function httpResponse(
  { status, json, headers = {} }: ServiceResponse,
  body: string | Buffer = JSON.stringify(json),
): Buffer {
  const length = String(Buffer.byteLength(body));
  const all = { 'content-type': 'application/json', 'content-length': length, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return Buffer.concat([
    Buffer.from([`HTTP/1.1 ${status} Status`, ...lines, '', ''].join('\r\n')),
    Buffer.from(body),
  ]);
}

/** Reads a request to its end. Rejects if the connection ends before. */
export async function readRequest(incoming: IncomingMessage): Promise<ReceivedHttpRequest> {
  const { method = '', url = '', headers } = incoming;
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  const body = await text(incoming);
  return {
    ...{ method, path, query, parameters: new URLSearchParams(query) },
    ...{ headers: headers as Record<string, string>, body },
    json: body === '' ? {} : (JSON.parse(body) as Record<string, unknown>),
  };
}

/** A connection of the gateway to the fake service, on which any bytes can be written. */
export class ServiceConnection {
  /** Whether the service ended the connection. */
  isEnded = false;

  constructor(
    readonly socket: Socket,
    private readonly date: () => string,
  ) {}

  /** Sends a response with a Date header; `body` replaces the JSON. */
  send(response: ServiceResponse, body?: string | Buffer): void {
    this.write(httpResponse({ ...response, headers: { date: this.date(), ...response.headers } }, body));
  }

  write(bytes: string | Buffer, written?: () => void): void {
    if (this.socket.writable) this.socket.write(bytes, written);
  }

  /** Ends the connection with a RST: written and unread bytes are lost. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  /** Ends the connection with a FIN, after `bytes`. Later requests on it are ignored. */
  end(bytes?: string | Buffer): void {
    this.isEnded = true;
    this.socket.end(bytes ?? '');
  }

  every(ms: number, run: () => void): void {
    const timer = setInterval(run, ms);
    this.socket.once('close', () => clearInterval(timer));
  }
}
