import type { Service } from './service';

/** As in RFC 2119. MUST: the specification says so. SHOULD: it implies so, or leaves the exact answer open. */
export type Level = 'MUST' | 'SHOULD';

/** What a service needs beyond the specification before an obligation can be tried on it. */
export type Need = 'forced outcomes';

/** One requirement of the service's specification that can be tried on a running service. */
export interface Obligation {
  /** Permanent: never given to another requirement, see `permanent-ids.txt`. */
  id: string;
  level: Level;
  /** The rest of the sentence that begins with the level. */
  says: string;
  /** The section of the specification. */
  spec: string;
  /** Absent: it can be tried on every service. */
  needs?: Need;
  /** Rejects when the service does not meet the obligation. */
  run(service: Service): Promise<void>;
}

/** The obligation as one line: the name of its test. */
export function nameOf({ id, level, says }: Obligation): string {
  return `${id} ${level} ${says}`;
}
