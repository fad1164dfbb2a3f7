import { Registry } from 'prom-client';
import { showClientKeys, type ClientKeyState } from './client-keys';
import { moneyMetrics, showMoney, type MoneyListener, type MoneyState } from './money';
import { operationMetrics, type OperationEnded } from './operations';
import { processMetrics } from './process';
import { together, type Report } from './reports';
import { serviceMetrics, showService, type ServiceListener, type ServiceState } from './service';
import { showWeb, webMetrics, type WebListener, type WebState } from './web';

/** A page of metrics as Prometheus reads it. */
export interface MetricsPage {
  contentType: string;
  text: string;
}

/** What the other processes of this gateway report. Resolves in bounded time, and does not reject. */
export type AskOthers = (own: Report) => Promise<readonly Report[]>;

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
    showService(this.#registry, state);
  }

  /** Shows what the journal and the audit log say; to be called once. */
  showMoney(state: MoneyState): void {
    this.#readJournal = showMoney(this.#registry, state);
  }

  /** Shows what the web server holds open; to be called once. */
  showWeb(state: WebState): void {
    showWeb(this.#registry, state);
  }

  /** Shows last use and expiry of client keys; to be called once. */
  showClientKeys(read: () => readonly ClientKeyState[]): void {
    showClientKeys(this.#registry, read);
  }

  /** The page, of all processes together. Who asks while one is being made gets that one. */
  page(askOthers?: AskOthers): Promise<MetricsPage> {
    this.#page ??= this.#make(askOthers).finally(() => {
      this.#page = undefined;
    });
    return this.#page;
  }

  /** The metrics of this process alone. */
  async report(): Promise<Report> {
    return (await this.#read()).getMetricsAsJSON();
  }

  async #make(askOthers: AskOthers | undefined): Promise<MetricsPage> {
    const own = await this.#read();
    if (!askOthers) return { contentType: own.contentType, text: await own.metrics() };
    const report = await own.getMetricsAsJSON();
    const all = together([report, ...(await askOthers(report))]);
    return { contentType: all.contentType, text: await all.metrics() };
  }

  async #read(): Promise<Registry> {
    await this.#readJournal();
    return Registry.merge([this.#registry, this.#process]);
  }
}
