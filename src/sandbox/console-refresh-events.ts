import type { Writable } from 'node:stream';
import type { Clock, Timer } from '../shared/clock';

const MAX_EVENT_STREAMS = 32;
/** Delay in ms before an event is sent. All changes within this time share the event. */
const EVENT_DELAY_MS = 100;
/** Interval of heartbeats in ms, shorter than the usual idle timeouts of proxies. */
const HEARTBEAT_INTERVAL_MS = 15_000;
/** Maximum number of bytes that a client has not read yet. If there are more, the client's stream is destroyed. */
const MAX_UNREAD_BYTES = 64 * 1024;

/** Sends server-sent events that make console pages refresh. The events contain no transaction data. */
export class ConsoleRefreshEvents {
  private readonly streams = new Set<Writable>();
  private pendingEventTimer: Timer | undefined;
  private heartbeatTimer: Timer | undefined;

  constructor(private readonly realClock: Clock) {}

  get hasCapacity(): boolean {
    return this.streams.size < MAX_EVENT_STREAMS;
  }

  addStream(stream: Writable): void {
    this.streams.add(stream);
    stream.on('close', () => this.removeStream(stream));
    stream.on('error', () => this.removeStream(stream));
    stream.write('retry: 1000\n\n');
    this.heartbeatTimer ??= this.realClock.after(HEARTBEAT_INTERVAL_MS, () => this.sendHeartbeat());
  }

  notifyChange(): void {
    if (this.streams.size === 0) return;
    this.pendingEventTimer ??= this.realClock.after(EVENT_DELAY_MS, () => {
      this.pendingEventTimer = undefined;
      this.sendToAllStreams('data: changed\n\n');
    });
  }

  close(): void {
    for (const stream of this.streams) {
      stream.end();
      this.removeStream(stream);
    }
  }

  private sendHeartbeat(): void {
    this.heartbeatTimer = this.realClock.after(HEARTBEAT_INTERVAL_MS, () => this.sendHeartbeat());
    this.sendToAllStreams(': heartbeat\n\n');
  }

  private sendToAllStreams(eventText: string): void {
    for (const stream of this.streams) {
      if (stream.writableLength > MAX_UNREAD_BYTES) stream.destroy();
      else stream.write(eventText);
    }
  }

  private removeStream(stream: Writable): void {
    this.streams.delete(stream);
    if (this.streams.size > 0) return;
    this.pendingEventTimer?.cancel();
    this.heartbeatTimer?.cancel();
    this.pendingEventTimer = this.heartbeatTimer = undefined;
  }
}
