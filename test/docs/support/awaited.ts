import { existsSync } from 'node:fs';
import path from 'node:path';
import { TOP } from './markdown';

/** TO BE EMPTIED when the rooms that these belong to have come: what pages name before it exists. */
export const AWAITED: readonly string[] = [
  'docs/clients.md',
  'docs/explorer.md',
  'docs/observability.md',
  'docs/runbook.md',
  'docs/tracing.md',
  'docs/command-line.md',
  'docs/doctor.md',
  'docs/deployment.md',
  'docs/federation.md',
  'docs/api-stability.md',
  'docs/decisions/0015-subgraph.md',
  'docs/images/explorer.png',
  'deploy/',
  'deploy/nginx/paygraph.conf',
  'npm run schema-check',
  'npm run doctor',
];

/** Whether a file of the project is there, or will be; `file` is its path from the top folder. */
export const isThere = (file: string): boolean => AWAITED.includes(file) || existsSync(path.join(TOP, file));
