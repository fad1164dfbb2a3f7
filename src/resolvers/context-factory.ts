import type { Operations } from '../core';
import type { AuditEntry } from '../observability/audit/audit-log';
import { OperationContext, type RequestIdentity } from './context';

/** Creates the context of one GraphQL operation. */
export type ContextFactory = (request: RequestIdentity) => OperationContext;

export const contextFactory =
  (operations: Operations, record: (entry: AuditEntry) => void): ContextFactory =>
  (request) =>
    new OperationContext(operations, record, request);
