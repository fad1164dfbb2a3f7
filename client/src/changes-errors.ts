/** Thrown if the gateway no longer has all changes after the cursor. Changes are kept for a limited time. */
export class CursorExpired extends Error {
  /** @param oldestCursor oldest valid cursor: the gateway still has every change after this cursor */
  constructor(
    message: string,
    readonly oldestCursor: string,
  ) {
    super(message);
    this.name = 'CursorExpired';
  }
}

/** Thrown for an error that a retry would not remove, such as UNAUTHENTICATED or a wrong URL. */
export class RequestRefused extends Error {
  /** @param errors GraphQL errors of the response, as input for gatewayError(); empty if there are none */
  constructor(
    message: string,
    readonly errors: readonly unknown[],
  ) {
    super(message);
    this.name = 'RequestRefused';
  }
}
