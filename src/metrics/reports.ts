import { AggregatorRegistry } from 'prom-client';

/** All the metrics of a process, as they can be sent to another one. */
export type Report = readonly { name: string; type: string | number }[];

/** Several processes as one: counters are added up, and of gauges each is put together as suits it. */
export const together = (reports: readonly Report[]) => AggregatorRegistry.aggregate([...reports]);

const COUNTED = new Set(['counter', 'histogram']);

/** What several processes have counted in all. How they are is left out: they may be gone. */
export const countedBy = async (reports: readonly Report[]): Promise<Report> =>
  together(
    reports.map((report) => report.filter(({ type }) => COUNTED.has(String(type)))),
  ).getMetricsAsJSON();
