import process from 'node:process';
import { main } from '../../../src/cli/audit';

// `npm run audit`, without its build: what follows this program's name is for it.
process.argv.splice(2, 1);
void main();
