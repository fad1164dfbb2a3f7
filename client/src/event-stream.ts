/** A server-sent event. `event`: the event's name, or '' if it has none. */
export interface ServerSentEvent {
  event: string;
  data: string;
}

/** Parses a stream of server-sent events that arrives in parts (HTML standard, "Interpreting an event stream"). */
export class EventStreamParser {
  #rest = '';
  #event = '';
  #data: string[] = [];

  /** Parses the next part of the stream. Returns the events that this part completes. */
  push(part: string): ServerSentEvent[] {
    // Do not split at a CR at the end of the part: it may be the first half of CR LF.
    const lines = (this.#rest + part).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#readLine(line) ?? []);
  }

  #readLine(line: string): ServerSentEvent | undefined {
    if (line === '') return this.#endEvent();
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name === 'event') this.#event = value;
    if (name === 'data') this.#data.push(value);
    return undefined;
  }

  #endEvent(): ServerSentEvent | undefined {
    const ended = { event: this.#event, data: this.#data.join('\n') };
    const hasData = this.#data.length > 0;
    this.#event = '';
    this.#data = [];
    return hasData ? ended : undefined;
  }
}
