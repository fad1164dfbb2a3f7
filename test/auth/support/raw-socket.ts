export { exchange } from '../../support/wire';
