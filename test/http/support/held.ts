import type { FaultyService, Purpose } from '../../exactly-once/service/faulty-service';
import { gate, until } from '../../exactly-once/support/gate';

/** Makes the service keep the next request for that to itself until it is released. */
export function holdNext(
  service: FaultyService,
  purpose: Purpose,
): { release(): void; arrived(): Promise<unknown> } {
  const before = service.asked(purpose).length;
  const { opened, open } = gate();
  service.next(purpose, { acts: true, first: opened });
  return {
    release: open,
    arrived: () =>
      until(
        () => service.asked(purpose).length,
        (count) => count > before,
      ),
  };
}
