import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Runs a function outside the async context of any request, so that the spans and log lines of work that requests share
 * are not part of one request.
 */
export const runOutsideRequests = AsyncLocalStorage.snapshot();
