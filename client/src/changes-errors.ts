/** Thrown if changes after the given cursor were deleted, because the gateway keeps changes only for a limited time. */
export class CursorExpired extends Error {
  /** @param oldestCursor cursor after which the gateway has every change */
  constructor(
    message: string,
    readonly oldestCursor: string,
  ) {
    super(message);
    this.name = 'CursorExpired';
  }
}

/** Thrown if the gateway rejects a request, or another server responds, and repeating the request would not help. */
export class RequestRefused extends Error {
  /** @param errors the GraphQL errors in the response, for `gatewayError`; empty if there are none */
  constructor(
    message: string,
    readonly errors: readonly unknown[],
  ) {
    super(message);
    this.name = 'RequestRefused';
  }
}
