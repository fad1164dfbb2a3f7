import { describePostgresStore } from '../support/harness';
import { defineFeedTests } from './support/feed-tests';

describePostgresStore('The record of changes (PostgreSQL)', defineFeedTests);
