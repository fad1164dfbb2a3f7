/** An error that becomes an HTTP response. The response names fields and rules, never values. */
export class SandboxHttpError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly errors?: Record<string, string>,
  ) {
    super(message);
    this.name = 'SandboxHttpError';
  }

  body(): Record<string, unknown> {
    return this.errors ? { message: this.message, errors: this.errors } : { message: this.message };
  }
}

export function invalidRequest(errors: Record<string, string>): SandboxHttpError {
  return new SandboxHttpError(400, 'The request is invalid', errors);
}
