/** An error that becomes an HTTP response. The response names fields and rules, never values. */
export class SandboxHttpError extends Error {
  /** @param violatedRuleByField rule such as `must be a UUID`, by field path such as `amount.value` or header name */
  constructor(
    readonly status: number,
    message: string,
    readonly violatedRuleByField?: Record<string, string>,
  ) {
    super(message);
    this.name = 'SandboxHttpError';
  }
}

export const invalidRequestError = (violatedRuleByField: Record<string, string>): SandboxHttpError =>
  new SandboxHttpError(400, 'The request is invalid', violatedRuleByField);
