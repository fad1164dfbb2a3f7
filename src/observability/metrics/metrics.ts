import { Registry } from 'prom-client';
import { showClientKeys, type ClientKeyState } from './client-keys';
import { moneyMetrics, registerMoneyGauges, type MoneyListener, type MoneyState } from './money';
import { operationMetrics, type OperationEnded } from './operations';
import { processMetrics } from './process';
import { serviceMetrics, registerServiceGauges, type ServiceListener, type ServiceState } from './service';
import { registerWebGauges, webMetrics, type WebListener, type WebState } from './web';

/** A page of metrics as Prometheus reads it. */
export interface MetricsPage {
  contentType: string;
  text: string;
}

/**
 * The metrics of one gateway (docs/observability.md). What happens is told to its listeners; what is, is read when somebody
 * wants to know. No label holds anything that a caller or a payer chose.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #process = processMetrics();
  readonly operationEnded: OperationEnded = operationMetrics(this.#registry);
  readonly service: ServiceListener = serviceMetrics(this.#registry);
  readonly money: MoneyListener = moneyMetrics(this.#registry);
  readonly web: WebListener = webMetrics(this.#registry);
  #readJournal: () => Promise<void> = () => Promise.resolve();
  #page: Promise<MetricsPage> | undefined;

  /** Shows the state of the way to the service; to be called once. */
  showService(state: ServiceState): void {
    registerServiceGauges(this.#registry, state);
  }

  /** Shows what the journal and the audit log say; to be called once. */
  showMoney(state: MoneyState): void {
    this.#readJournal = registerMoneyGauges(this.#registry, state);
  }

  /** Shows what the web server holds open; to be called once. */
  showWeb(state: WebState): void {
    registerWebGauges(this.#registry, state);
  }

  /** Shows last use and expiry of client keys; to be called once. */
  showClientKeys(read: () => readonly ClientKeyState[]): void {
    showClientKeys(this.#registry, read);
  }

  /** The metrics in Prometheus text format. Concurrent calls share one page. */
  page(): Promise<MetricsPage> {
    this.#page ??= this.#render().finally(() => {
      this.#page = undefined;
    });
    return this.#page;
  }

  async #render(): Promise<MetricsPage> {
    await this.#readJournal();
    const all = Registry.merge([this.#registry, this.#process]);
    return { contentType: all.contentType, text: await all.metrics() };
  }
}
