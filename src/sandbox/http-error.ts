/** An error that becomes an HTTP response. The response names fields and rules, never values. */
export class SandboxHttpError extends Error {
  /** @param errors violated rules by field name */
  constructor(
    readonly status: number,
    message: string,
    readonly errors?: Record<string, string>,
  ) {
    super(message);
    this.name = 'SandboxHttpError';
  }
}

export const invalidRequestError = (errors: Record<string, string>): SandboxHttpError =>
  new SandboxHttpError(400, 'The request is invalid', errors);
