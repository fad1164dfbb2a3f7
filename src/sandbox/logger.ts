/** As much of a pino logger as the sandbox uses. It is given ids, routes and numbers: never bodies, queries or keys. */
export interface SandboxLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
