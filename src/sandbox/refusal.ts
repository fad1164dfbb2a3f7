/** An answer other than 200 or 201 that the client brought about. It names fields and rules, never values. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly errors?: Record<string, string>,
  ) {
    super(message);
    this.name = 'Refusal';
  }

  body(): Record<string, unknown> {
    return this.errors ? { message: this.message, errors: this.errors } : { message: this.message };
  }
}

export function invalid(errors: Record<string, string>): Refusal {
  return new Refusal(400, 'The request is invalid', errors);
}
