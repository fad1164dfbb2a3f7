/** A cursor older than the oldest change that the gateway keeps: changes after it were deleted. */
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

/** The gateway refused a request, or something else responded, and repeating the request would not help. */
export class RequestRefused extends Error {
  /** @param errors the GraphQL errors, which `gatewayError` reads; empty if the response is not one of a gateway */
  constructor(
    message: string,
    readonly errors: readonly unknown[],
  ) {
    super(message);
    this.name = 'RequestRefused';
  }
}
