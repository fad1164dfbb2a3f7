/** The part of a pino logger that the sandbox uses. It logs ids, routes and numbers, never bodies, queries or keys. */
export interface SandboxLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
