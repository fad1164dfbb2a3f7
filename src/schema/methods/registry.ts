/** The only registry, one line per method: a method exists when its room stands here. */
export { card } from './card';
export { upi } from './upi';
export { dcb } from './dcb';
export { jazzCash } from './jazz-cash';
export { easyPaisa } from './easy-paisa';
export { virtualAccount } from './virtual-account';
export { qris } from './qris';
export { ewallet } from './ewallet';
export { c2c } from './c2c';
export { bkash } from './bkash';
export { nagad } from './nagad';
export { rocket } from './rocket';
export { bankTransfer } from './bank-transfer';
export { imps } from './imps';
export { scheme } from './scheme';
export { havale } from './havale';
export { other } from './other';
