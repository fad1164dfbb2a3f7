/** Thrown if the gateway has deleted changes after the given cursor: it keeps changes only for a limited time. */
export class CursorExpired extends Error {
  /** @param oldestCursor oldest valid cursor: the gateway still has every change after it */
  constructor(
    message: string,
    readonly oldestCursor: string,
  ) {
    super(message);
    this.name = 'CursorExpired';
  }
}

/** Thrown if the gateway or another server rejects a request and a repetition of the request would not help. */
export class RequestRefused extends Error {
  /** @param errors GraphQL errors in the response, which gatewayError() can read; empty if there are none */
  constructor(
    message: string,
    readonly errors: readonly unknown[],
  ) {
    super(message);
    this.name = 'RequestRefused';
  }
}
