/** Stores transaction ids of responses, for placeholders in the variables of later operations. */
export class KnownIds {
  readonly #ids = new Map<string, string>();

  /** Stores the id of the payment or payout in a mutation result, by operation name and as `payment` or `payout`. */
  store(operationName: string, data: unknown): void {
    if (!isObject(data)) return;
    for (const result of Object.values(data)) {
      if (!isObject(result)) continue;
      for (const kind of ['payment', 'payout']) {
        const transaction = result[kind];
        if (!isObject(transaction) || typeof transaction['transactionId'] !== 'string') continue;
        this.#ids.set(kind, transaction['transactionId']);
        this.#ids.set(operationName, transaction['transactionId']);
      }
    }
  }

  /**
   * Returns `value` with stored ids in place of the texts {{payment}}, {{payout}} and {{<operation name>}}, at any
   * depth. If an id is missing, throws an Error that says what to run first.
   */
  fillIn(value: unknown): unknown {
    if (typeof value === 'string') return this.#filledIn(value);
    if (Array.isArray(value)) return value.map((one) => this.fillIn(one));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.fillIn(one)]));
  }

  #filledIn(text: string): string {
    const [, name] = /^\{\{(\w+)\}\}$/.exec(text) ?? [];
    if (name === undefined) return text;
    const id = this.#ids.get(name);
    if (id !== undefined) return id;
    const first = name === 'payment' || name === 'payout' ? `create a ${name}` : `run ${name}`;
    const hint = new Error(
      `Nothing was sent: ${first} first, or put a transactionId in the place of ${text}.`,
    );
    // Hide the stack, which GraphiQL would show. Deleting it is not enough, because Error.prototype may have a `stack`.
    Object.defineProperty(hint, 'stack', { value: undefined });
    throw hint;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
