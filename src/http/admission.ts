import type { Caller } from '../access/caller';
import type { DocumentLimits } from './document-limits';
import type { PersistedOperations } from './persisted-operations';
import type { RateLimit } from './rate-limit';
import { invalidDocument, tooLarge } from './refusal';

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

/** Decides what is let in, the same for every way in which an operation can be asked. */
export class Admission {
  constructor(private readonly parts: AdmissionParts) {}

  /**
   * The operation, with its document in the place of an id.
   * @throws Refusal where it is not let in; nothing has been parsed for carrying out then
   */
  async admit<A extends AskedOperation>(asked: A, caller: Caller): Promise<A> {
    const { limits, persisted, rate } = this.parts;
    // What it costs beyond that is known, and taken, when the document has been understood.
    await rate.take(caller, 1);
    const resolved = persisted.resolve(asked, caller.kind);
    if (typeof resolved.query === 'string') {
      const checked = limits.check(resolved.query);
      if (!checked.ok)
        throw checked.rule === 'cardNumbers' ? invalidDocument(checked.message) : tooLarge(checked.message);
    }
    return resolved;
  }
}
