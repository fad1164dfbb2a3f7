import type { Caller } from '../../auth/caller';
import { digestOf, type DocumentLimits } from '../limits/document-limits';
import type { RateLimit } from '../limits/rate-limit';
import type { PersistedOperations } from '../persisted/persisted-operations';
import { invalidDocument, tooLarge } from './http-error';
import type { GraphQLRequestParams } from './request-params';

export interface AdmittedRequest {
  params: GraphQLRequestParams;
  /** Of the document; null without one. */
  digest: string | null;
}

interface AdmissionParts {
  limits: DocumentLimits;
  persisted: PersistedOperations;
  rate: RateLimit;
}

/** Rate limit, persisted operations and document limits, for every transport. */
export class Admission {
  constructor(private readonly parts: AdmissionParts) {}

  /** @throws RequestError when the request is rejected */
  async admit(params: GraphQLRequestParams, caller: Caller): Promise<AdmittedRequest> {
    const { limits, persisted, rate } = this.parts;
    // The rest of the cost is consumed when the document has been parsed.
    await rate.consume(caller, 1);
    const resolved = persisted.resolve(params, caller.kind);
    if (typeof resolved.query !== 'string') return { params: resolved, digest: null };
    const digest = digestOf(resolved.query);
    const checked = limits.check(resolved.query, digest);
    if (!checked.ok)
      throw checked.rule === 'cardNumbers' ? invalidDocument(checked.message) : tooLarge(checked.message);
    return { params: resolved, digest };
  }
}
