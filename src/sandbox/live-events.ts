import type { Writable } from 'node:stream';
import type { Clock, Timer } from './clock';

const MAX_LISTENERS = 32;
/** All that changes within it is one event. */
const TOGETHER_MS = 100;
/** Often enough for proxies not to take the stream for dead. */
const HEARTBEAT_MS = 15_000;
/** Who leaves so much unread is gone, or might as well be. */
const MAX_UNREAD_BYTES = 64 * 1024;

/** Tells the pages of the console, by server-sent events, that what they show has changed. Not what: they look. */
export class LiveEvents {
  private readonly listeners = new Set<Writable>();
  private soon: Timer | undefined;
  private heartbeat: Timer | undefined;
  private closed = false;

  /** Coalescing and heartbeats go by the real time, wherever the sandbox's own clock was pushed. */
  constructor(private readonly realTime: Clock) {}

  get hasRoom(): boolean {
    return !this.closed && this.listeners.size < MAX_LISTENERS;
  }

  /** Whoever comes looks first and needs no event for what was before. */
  listen(stream: Writable): void {
    this.listeners.add(stream);
    stream.on('close', () => this.forget(stream));
    // Told of nothing else than that the listener is gone.
    stream.on('error', () => this.forget(stream));
    stream.write('retry: 1000\n\n');
    this.heartbeat ??= this.realTime.after(HEARTBEAT_MS, () => this.beat());
  }

  changed(): void {
    if (this.listeners.size === 0) return;
    this.soon ??= this.realTime.after(TOGETHER_MS, () => {
      this.soon = undefined;
      this.tell('data: changed\n\n');
    });
  }

  /** Ends every stream as one that is complete. */
  close(): void {
    this.closed = true;
    for (const stream of this.listeners) {
      stream.end();
      this.forget(stream);
    }
  }

  private beat(): void {
    this.heartbeat = this.realTime.after(HEARTBEAT_MS, () => this.beat());
    this.tell(': still here\n\n');
  }

  private tell(text: string): void {
    for (const stream of this.listeners) {
      if (stream.writableLength > MAX_UNREAD_BYTES) stream.destroy();
      else stream.write(text);
    }
  }

  private forget(stream: Writable): void {
    this.listeners.delete(stream);
    if (this.listeners.size > 0) return;
    this.soon?.cancel();
    this.heartbeat?.cancel();
    this.soon = this.heartbeat = undefined;
  }
}
