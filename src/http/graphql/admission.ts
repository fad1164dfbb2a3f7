import type { Caller } from '../../auth/caller';
import { digestOf, type DocumentLimits } from '../limits/document-limits';
import type { PersistedOperations } from '../persisted/persisted-operations';
import type { RateLimit } from '../limits/rate-limit';
import { invalidDocument, tooLarge } from './http-error';

/** An operation as a client asks for it: the body of a POST, or the payload of a subscription. */
export interface AskedOperation {
  query?: unknown;
  operationName?: unknown;
  variables?: unknown;
  extensions?: unknown;
  documentId?: unknown;
}

interface AdmissionParts {
  limits: DocumentLimits;
  persisted: PersistedOperations;
  rate: RateLimit;
}

/** An operation that is let in. */
export interface Admitted<A extends AskedOperation> {
  operation: A;
  /** Of the document; null where none was sent. */
  digest: string | null;
}

/** Decides what is let in, the same for every way in which an operation can be asked. */
export class Admission {
  constructor(private readonly parts: AdmissionParts) {}

  /**
   * Lets an operation in, with its document in the place of an id.
   * @throws Refusal where it is not let in; nothing has been parsed for carrying out then
   */
  async admit<A extends AskedOperation>(asked: A, caller: Caller): Promise<Admitted<A>> {
    const { limits, persisted, rate } = this.parts;
    // What it costs beyond that is known, and taken, when the document has been understood.
    await rate.consume(caller, 1);
    const operation = persisted.resolve(asked, caller.kind);
    if (typeof operation.query !== 'string') return { operation, digest: null };
    const digest = digestOf(operation.query);
    const checked = limits.check(operation.query, digest);
    if (!checked.ok)
      throw checked.rule === 'cardNumbers' ? invalidDocument(checked.message) : tooLarge(checked.message);
    return { operation, digest };
  }
}
