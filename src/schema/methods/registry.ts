import { card } from './card';
import { upi } from './upi';
import { dcb } from './dcb';
import { jazzCash } from './jazz-cash';
import { easyPaisa } from './easy-paisa';
import { virtualAccount } from './virtual-account';
import { qris } from './qris';
import { ewallet } from './ewallet';
import { c2c } from './c2c';
import { bkash } from './bkash';
import { nagad } from './nagad';
import { rocket } from './rocket';
import { bankTransfer } from './bank-transfer';
import { imps } from './imps';
import { scheme } from './scheme';
import { havale } from './havale';
import { other } from './other';
import type { MethodDefinition } from './method-definition';

/** All methods, in the order of the specification. The last one, `other`, also stands for unknown methods. */
export const methodDefinitions: readonly MethodDefinition[] = [
  card,
  upi,
  dcb,
  jazzCash,
  easyPaisa,
  virtualAccount,
  qris,
  ewallet,
  c2c,
  bkash,
  nagad,
  rocket,
  bankTransfer,
  imps,
  scheme,
  havale,
  other,
];
