/** What runs until it is stopped, and ends the process itself. Loaded when it is started. */
export const SERVERS = {
  start: async (): Promise<void> => (await import('../server.js')).main(),
  sandbox: async (): Promise<void> => (await import('../sandbox/main.js')).main(),
};

/** Whether a command starts a server. */
export const isServer = (command: string): command is keyof typeof SERVERS => Object.hasOwn(SERVERS, command);
