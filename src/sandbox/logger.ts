/** The methods of pino that the sandbox uses. The sandbox logs ids, routes and stack frames, never bodies or keys. */
export interface SandboxLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
