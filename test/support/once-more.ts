/**
 * Real processes, disks and databases on a busy machine may be too slow once, and the gateway rightly gives up then. A
 * test that fails is tried once more, and the first failure is printed; one that fails twice has failed.
 */
jest.retryTimes(1, { logErrorsBeforeRetry: true });
