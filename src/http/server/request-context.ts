import { AsyncLocalStorage } from 'node:async_hooks';

/** The context of the HTTP request being served, for code that Apollo calls without one. */
export const requestContext = new AsyncLocalStorage<{ requestId: string }>();
