import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Runs a function outside the async context of any request. For work that several requests share: its spans and log
 * lines must not belong to one of these requests.
 */
export const runOutsideRequests = AsyncLocalStorage.snapshot();
