import type { Writable } from 'node:stream';
import type { Clock, Timer } from '../shared/clock';

const MAX_LISTENERS = 32;
/** Delay in ms before an event is sent. All changes within this time share the event. */
const COALESCE_MS = 100;
/** Interval of heartbeats in ms, shorter than the usual idle timeouts of proxies. */
const HEARTBEAT_MS = 15_000;
/** Maximum number of bytes that a client has not read yet. If there are more, the client's stream is destroyed. */
const MAX_UNREAD_BYTES = 64 * 1024;

/** Sends server-sent events that make console pages refresh. The events contain no transaction data. */
export class ConsoleRefreshEvents {
  private readonly listeners = new Set<Writable>();
  private pendingEvent: Timer | undefined;
  private heartbeat: Timer | undefined;

  constructor(private readonly realTime: Clock) {}

  get hasCapacity(): boolean {
    return this.listeners.size < MAX_LISTENERS;
  }

  addListener(stream: Writable): void {
    this.listeners.add(stream);
    stream.on('close', () => this.remove(stream));
    stream.on('error', () => this.remove(stream));
    stream.write('retry: 1000\n\n');
    this.heartbeat ??= this.realTime.after(HEARTBEAT_MS, () => this.sendHeartbeat());
  }

  notifyChange(): void {
    if (this.listeners.size === 0) return;
    this.pendingEvent ??= this.realTime.after(COALESCE_MS, () => {
      this.pendingEvent = undefined;
      this.send('data: changed\n\n');
    });
  }

  close(): void {
    for (const stream of this.listeners) {
      stream.end();
      this.remove(stream);
    }
  }

  private sendHeartbeat(): void {
    this.heartbeat = this.realTime.after(HEARTBEAT_MS, () => this.sendHeartbeat());
    this.send(': heartbeat\n\n');
  }

  private send(text: string): void {
    for (const stream of this.listeners) {
      if (stream.writableLength > MAX_UNREAD_BYTES) stream.destroy();
      else stream.write(text);
    }
  }

  private remove(stream: Writable): void {
    this.listeners.delete(stream);
    if (this.listeners.size > 0) return;
    this.pendingEvent?.cancel();
    this.heartbeat?.cancel();
    this.pendingEvent = this.heartbeat = undefined;
  }
}
