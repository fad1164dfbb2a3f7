import { describeSqlite } from '../support/harness';
import { defineFeedTests } from './support/feed-tests';

describeSqlite('The record of changes (SQLite)', defineFeedTests);
