import { AsyncLocalStorage } from 'node:async_hooks';

/** Holds the id of the HTTP request or subscription being served, for code that does not get it as an argument. */
export const requestContext = new AsyncLocalStorage<{ requestId: string }>();
