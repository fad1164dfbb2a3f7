/** The methods of pino that the sandbox uses. The sandbox logs ids, routes and stack frames, never bodies or keys. */
export interface SandboxLogger {
  info(logFields: object, message: string): void;
  warn(logFields: object, message: string): void;
  error(logFields: object, message: string): void;
}
