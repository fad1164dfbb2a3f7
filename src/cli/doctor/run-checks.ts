import { wordOf, failed, type Check, type Examined, type Finding } from './check';

/** So long may a check take; all run at once. */
export const CHECK_DEADLINE_MS = 10_000;

/** A finding and the check that made it. */
export interface Named extends Finding {
  check: string;
}

/** Runs all checks at once and gives their findings in the checks' order. Never rejects. */
export async function runChecks(
  checks: readonly Check[],
  examined: Examined,
  deadlineMs = CHECK_DEADLINE_MS,
): Promise<Named[]> {
  const found = await Promise.all(
    checks.map(async (check) => {
      const findings = await inTime(check, examined, deadlineMs);
      return findings.map((finding) => ({ check: check.name, ...finding }));
    }),
  );
  return found.flat();
}

async function inTime(check: Check, examined: Examined, deadlineMs: number): Promise<Finding[]> {
  let patience: NodeJS.Timeout | undefined;
  const tooLate = new Promise<Finding[]>((resolve) => {
    patience = setTimeout(() => {
      const says = `This could not be found out within ${deadlineMs / 1000} s.`;
      resolve([
        failed(says, 'Something does not answer: a firewall that drops packets, or a very busy machine.'),
      ]);
    }, deadlineMs);
  });
  try {
    return [await Promise.race([Promise.resolve(check.run(examined)), tooLate])].flat();
  } catch (error) {
    return [
      failed(`This could not be found out (${wordOf(error)}).`, 'This is not expected: please report it.'),
    ];
  } finally {
    clearTimeout(patience);
  }
}
