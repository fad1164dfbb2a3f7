/** A server-sent event. `event`: the event's name, or '' if it has none. */
export interface ServerSentEvent {
  event: string;
  data: string;
}

/** Parses a stream of server-sent events that arrives in parts (HTML standard, "Interpreting an event stream"). */
export class EventStreamParser {
  #incompleteLine = '';
  #eventName = '';
  #dataLines: string[] = [];

  /** Parses the next part of the stream. Returns the events that this part completes. */
  push(part: string): ServerSentEvent[] {
    // Do not split at a CR at the end of the part: it may be the first half of CR LF.
    const lines = (this.#incompleteLine + part).split(/\r\n|\n|\r(?!$)/);
    this.#incompleteLine = lines.pop() ?? '';
    return lines.flatMap((line) => this.#readLine(line) ?? []);
  }

  #readLine(line: string): ServerSentEvent | undefined {
    if (line === '') return this.#endEvent();
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name === 'event') this.#eventName = value;
    if (name === 'data') this.#dataLines.push(value);
    return undefined;
  }

  #endEvent(): ServerSentEvent | undefined {
    const event = { event: this.#eventName, data: this.#dataLines.join('\n') };
    const hasData = this.#dataLines.length > 0;
    this.#eventName = '';
    this.#dataLines = [];
    return hasData ? event : undefined;
  }
}
