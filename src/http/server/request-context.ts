import { AsyncLocalStorage } from 'node:async_hooks';

/** What belongs to the HTTP request being served, wherever in it one is. */
export interface RequestScope {
  requestId: string;
}

/** Lets an error find the request it belongs to, also where Apollo hands over no context. */
export const requestContext = new AsyncLocalStorage<RequestScope>();
