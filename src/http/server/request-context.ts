import { AsyncLocalStorage } from 'node:async_hooks';

/** The context of the HTTP request being served, for code that does not get it as an argument. */
export const requestContext = new AsyncLocalStorage<{ requestId: string }>();
