import type { FakePaymentService, Endpoint } from '../../support/payment-service/fake-payment-service';
import { latch, until } from '../../support/latch';

export function holdNext(
  service: FakePaymentService,
  purpose: Endpoint,
): { release(): void; arrived(): Promise<unknown> } {
  const before = service.requestsTo(purpose).length;
  const { opened, open } = latch();
  service.next(purpose, { acts: true, first: opened });
  return {
    release: open,
    arrived: () => until(() => service.requestsTo(purpose).length > before),
  };
}
