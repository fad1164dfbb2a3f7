import { decodeQuery } from '../../gateway/fixtures/strict-service';
import { scriptedService, type SeenRequest } from '../../support/scripted-service';

/** A service whose transactions stand where the test puts them; whatever is asked for is there, and pending at first. */
export interface WatchedService {
  url: string;
  /** Everything that it was sent, creates and confirms too. */
  seen: SeenRequest[];
  /** How later lookups of that transaction are answered, beside its id. */
  set(transactionId: string, fields: Record<string, unknown>): void;
  /** How often that transaction was looked up. */
  lookups(transactionId: string): number;
  /** Whether it has nothing any more. */
  absent: boolean;
}

export async function watchedService(): Promise<WatchedService> {
  const standing = new Map<string, Record<string, unknown>>();
  const idOf = ({ query }: SeenRequest): string => decodeQuery(query)['transaction_id'] ?? '';
  const { url, seen } = await scriptedService((request) => {
    if (service.absent) return { status: 404, json: {} };
    const id = request.method === 'GET' ? idOf(request) : String(request.json['id']);
    return { status: 200, json: { status: 'pending', transaction_id: id, ...standing.get(id) } };
  });
  const service: WatchedService = {
    url,
    absent: false,
    seen,
    set: (id, fields) => void standing.set(id, fields),
    lookups: (id) => seen.filter((request) => request.method === 'GET' && idOf(request) === id).length,
  };
  return service;
}
