import { decodeQuery } from '../../gateway/fixtures/strict-service';
import { scriptedService, type SeenRequest } from '../../support/scripted-service';

/** A service that has whatever is asked for, on every channel: pending, until the test says where it stands. */
export interface ObligingService {
  url: string;
  /** Everything that it was sent, creates and confirms too. */
  seen: SeenRequest[];
  /** What later lookups of that transaction say of it, beside its id. */
  set(transactionId: string, fields: Record<string, unknown>): void;
  /** How often that transaction was looked up. */
  lookups(transactionId: string): number;
  /** Keeps its answers to itself until what it returns is called. */
  hold(): () => void;
  /** Whether it has nothing any more. */
  absent: boolean;
}

const idOf = ({ query }: SeenRequest): string => decodeQuery(query)['transaction_id'] ?? '';

export async function obligingService(): Promise<ObligingService> {
  const said = new Map<string, Record<string, unknown>>();
  let held: Promise<unknown> | undefined;
  const { url, seen } = await scriptedService(async (request) => {
    await held;
    if (service.absent) return { status: 404, json: {} };
    const id = request.method === 'GET' ? idOf(request) : String(request.json['id']);
    return { status: 200, json: { status: 'pending', transaction_id: id, ...said.get(id) } };
  });
  const service: ObligingService = {
    url,
    seen,
    absent: false,
    set: (id, fields) => void said.set(id, fields),
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      held = promise;
      return () => {
        held = undefined;
        resolve(undefined);
      };
    },
    lookups: (id) => seen.filter((request) => request.method === 'GET' && idOf(request) === id).length,
  };
  return service;
}
