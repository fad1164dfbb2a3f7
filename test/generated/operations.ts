/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** An amount of money to collect or to send. */
export type AmountInput = {
  /** ISO 4217 code. Some methods accept one currency only (spec section 8); another is an InvalidInputError. */
  currency: string;
  /** Above zero, at most two decimals; sent with two. */
  value: string;
};

/** A mobile wallet of Bangladesh, server-to-server (spec 2.5): nextAction names the account to pay to, then the payer provides a code for confirmPayment. */
export type BangladeshWalletInput = {
  /** The payer's email address. */
  email: string;
  /** The payer's first name. */
  firstName: string;
  /** The payer's phone number, E.164; sent as given, with or without +. */
  phone: string;
  /** The payer's surname. */
  surname: string;
};

/** A payout to a bank account (spec 2.8). */
export type BankTransferPayoutInput = {
  /** The recipient's account number. */
  accountNumber: string;
  /** SWIFT, routing code, IFSC or MFO, depending on the region. */
  bankCode: string;
  /** The bank's name. */
  bankName: string;
  /** The code of the bank's branch. */
  branchCode?: string | null | undefined;
  /** The recipient's email address. */
  email?: string | null | undefined;
  /** The recipient's first name. */
  firstName: string;
  /** The recipient's IBAN; spaces allowed, sent as given. */
  iban?: string | null | undefined;
  /** The recipient's last name. */
  lastName: string;
  /** The recipient's phone number, E.164; sent as given, with or without +. */
  phone?: string | null | undefined;
};

/** Confirms a card-to-card payment, which needs no data (spec 4.5). */
export type C2cConfirmation =
  /** The transfer was made, or is expected. */
  | 'TRANSFER_MADE';

/** Card-to-card transfer, server-to-server (spec 2.5): nextAction names the card to transfer to; then confirmPayment. At least one field. */
export type C2cPaymentInput = {
  /** The sender's card number, masked, for example "440043******1234". A full card number is rejected. */
  cardMask?: string | null | undefined;
  /** The sender's email address. */
  email?: string | null | undefined;
  /** The sender's first name. */
  firstName?: string | null | undefined;
  /** The sender's surname. */
  surname?: string | null | undefined;
};

/** A bank card, server-to-server (spec 2.5): the caller must comply with PCI-DSS. 3-D Secure at redirectUrl may follow. */
export type CardPaymentInput = {
  /** The full address, instead of countryCode, city, street and postalCode. */
  address?: string | null | undefined;
  /** The payer's date of birth, YYYY-MM-DD. */
  birthDate?: string | null | undefined;
  /** The name on the card. */
  cardholder: string;
  /** The payer's city. */
  city?: string | null | undefined;
  /** ISO 3166-1 alpha-2, for example "DE". */
  countryCode?: string | null | undefined;
  /** The security code, 3 or 4 digits. */
  cvc: string;
  /** The payer's email address. */
  email?: string | null | undefined;
  /** MM, 01 to 12. */
  expiryMonth: string;
  /** YYYY; with expiryMonth not in the past. */
  expiryYear: string;
  /** The card number, 12 to 19 digits; spaces and dashes are removed. */
  pan: string;
  /** The payer's phone number, E.164. */
  phone?: string | null | undefined;
  /** The payer's postal code. */
  postalCode?: string | null | undefined;
  /** The payer's street and house number. */
  street?: string | null | undefined;
};

/** A payout to a bank card (spec 2.8). */
export type CardPayoutInput = {
  /** The card number, 12 to 19 digits; spaces and dashes are removed. */
  pan: string;
};

/** Confirms a payment with the code that the payer received (spec 4.5). */
export type CodeConfirmationInput = {
  /** The code, from the payer. */
  code: string;
};

/** The confirmation of a server-to-server payment in a waiting state (spec 4.5). */
export type ConfirmPaymentInput = {
  /** The merchant channel of the payment. */
  channel: string;
  /** The field that nextAction.confirmWith names. */
  confirmation: ConfirmationInput;
  /** The payment to confirm. */
  transactionId: string;
};

/** The fields of ConfirmationInput, with the same names. */
export type ConfirmationField =
  /** For bKash: the code. */
  | 'bkash'
  /** For card-to-card transfers: that the transfer was made. */
  | 'c2c'
  /** For direct carrier billing: the code. */
  | 'dcb'
  /** For Nagad: the code. */
  | 'nagad'
  /** For Rocket: the code. */
  | 'rocket'
  /** For UPI: the UTR. */
  | 'upi';

/** Exactly one field: the one that nextAction.confirmWith names. */
export type ConfirmationInput =
  {   /** For bKash: the code. */
  bkash: CodeConfirmationInput; c2c?: never; dcb?: never; nagad?: never; rocket?: never; upi?: never; }
  |  { bkash?: never;   /** For card-to-card transfers: that the transfer was made. */
  c2c: C2cConfirmation; dcb?: never; nagad?: never; rocket?: never; upi?: never; }
  |  { bkash?: never; c2c?: never;   /** For direct carrier billing: the code. */
  dcb: CodeConfirmationInput; nagad?: never; rocket?: never; upi?: never; }
  |  { bkash?: never; c2c?: never; dcb?: never;   /** For Nagad: the code. */
  nagad: CodeConfirmationInput; rocket?: never; upi?: never; }
  |  { bkash?: never; c2c?: never; dcb?: never; nagad?: never;   /** For Rocket: the code. */
  rocket: CodeConfirmationInput; upi?: never; }
  |  { bkash?: never; c2c?: never; dcb?: never; nagad?: never; rocket?: never;   /** For UPI: the UTR. */
  upi: UtrConfirmationInput; };

/** A payment to create (spec 2.4). */
export type CreatePaymentInput = {
  /** What the payer has to pay. */
  amount: AmountInput;
  /** The URL that the service notifies of changes (spec section 6). https to a public host, without credentials; in the sandbox also http to this machine. Sent unchanged. */
  callbackUrl?: string | null | undefined;
  /** The merchant channel. */
  channel: string;
  /** Free text, at most 1000 characters. */
  description?: string | null | undefined;
  /** The identifier in the client's system, for example an order number; at most 255 characters. Generated by the gateway if absent. */
  externalId?: string | null | undefined;
  /** Chosen by the caller, 1 to 255 printable characters, one per intended payment or payout. The same key never creates a second one. */
  idempotencyKey: string | number;
  /** How the payer pays. */
  method: PaymentMethodInput;
  /** The page to which the payer returns; recommended. https to a public host, without credentials; in the sandbox also http to this machine. Sent unchanged. */
  returnUrl?: string | null | undefined;
};

/** A payout to create (spec 2.7). */
export type CreatePayoutInput = {
  /** What the recipient gets. */
  amount: AmountInput;
  /** The URL that the service notifies of changes (spec section 6). https to a public host, without credentials; in the sandbox also http to this machine. Sent unchanged. */
  callbackUrl?: string | null | undefined;
  /** The merchant channel. */
  channel: string;
  /** Free text, at most 1000 characters. */
  description?: string | null | undefined;
  /** The order or payout identifier in the client's system, at most 255 characters. */
  externalId: string;
  /** Chosen by the caller, 1 to 255 printable characters, one per intended payment or payout. The same key never creates a second one. */
  idempotencyKey: string | number;
  /** How the recipient gets the money. */
  method: PayoutMethodInput;
};

/** A method whose fields the service does not document (spec 2.5). */
export type CustomFieldsInput = {
  /** Sent unchanged next to type, which they cannot overwrite. No value may look like a full card number. */
  fields: Record<string, unknown>;
};

/** Direct carrier billing (spec 2.5). With userId only: redirect flow. With phone and names: server-to-server, confirmed with a code. */
export type DcbPaymentInput = {
  /** The payer's first name. */
  firstName?: string | null | undefined;
  /** The payer's last name. */
  lastName?: string | null | undefined;
  /** The payer's phone number, E.164; sent as given, with or without +. */
  phone?: string | null | undefined;
  /** The payer's identifier in the client's own system. */
  userId: string;
};

/** A payout by direct carrier billing (spec 2.8). */
export type DcbPayoutInput = {
  /** The recipient's first name. */
  firstName: string;
  /** The recipient's last name. */
  lastName: string;
  /** The recipient's phone number, E.164; sent as given, with or without +. */
  phone: string;
};

/** Error codes of failed payments and payouts (spec 7.2). */
export type DeclineCode =
  /** Browser data was not provided. */
  | 'BROWSER_DATA_NOT_PROVIDED'
  /** Card data was not provided. */
  | 'CARD_DATA_NOT_PROVIDED'
  /** 3-D Secure authentication failed. */
  | 'DECLINED_3DS_AUTHENTICATION_FAILED'
  /** Declined, without a more exact reason. */
  | 'DECLINED_GENERIC'
  /** Personal data of the payer was not provided. */
  | 'PERSONAL_DATA_NOT_PROVIDED'
  /** The payment provider returned an error: see message and reason. */
  | 'PROVIDER_PROCESSING_FAILED'
  /** A code unknown to this gateway: see rawCode. */
  | 'UNKNOWN';

/** The reason that the gateway recognises in a provider's free text. Providers may send any text. */
export type DeclineReason =
  /** The payer was not authenticated (3-D Secure). */
  | 'AUTHENTICATION_FAILED'
  /** The card has expired. */
  | 'CARD_EXPIRED'
  /** The issuer declined without a reason ("do not honor"). */
  | 'DO_NOT_HONOR'
  /** Not enough money on the account. */
  | 'INSUFFICIENT_FUNDS'
  /** The transaction is not permitted to this card or account. */
  | 'NOT_PERMITTED'
  /** The provider suspects fraud. */
  | 'SUSPECTED_FRAUD';

/** An e-wallet; the payer finishes on the hosted page (spec 2.5). */
export type EwalletPaymentInput = {
  /** The e-wallet, for example "ovo", "dana", "linkaja"; the list depends on the channel. */
  ewallet: string;
};

/** A payout by IMPS, the instant bank transfer of India (spec 2.8). */
export type ImpsPayoutInput = {
  /** The recipient's account number. */
  accountNumber: string;
  /** The IFSC of the recipient's bank. */
  bankCode: string;
  /** The recipient's email address. */
  email: string;
  /** The recipient's first name. */
  firstName: string;
  /** The recipient's last name. */
  lastName: string;
  /** The recipient's phone number, E.164; sent as given, with or without +. */
  phone: string;
};

/** A payout by a method unknown to this gateway (spec 2.8: "or others"). */
export type OtherPayoutInput = {
  /** Sent unchanged next to type, which they cannot overwrite. No value may look like a full card number. */
  fields: Record<string, unknown>;
  /** The service's payout_method.type. A method with an input field of its own is rejected here. */
  type: string;
};

/** The methods of payments (spec 2.5). */
export type PaymentMethod =
  /** bKash wallet (Bangladesh). */
  | 'BKASH'
  /** Card-to-card transfer (Kazakhstan). */
  | 'C2C'
  /** Bank card. */
  | 'CARD'
  /** Direct carrier billing. */
  | 'DCB'
  /** EasyPaisa wallet (Pakistan). */
  | 'EASY_PAISA'
  /** E-wallet (Indonesia). */
  | 'EWALLET'
  /** Havale: bank transfer with phone, user id and names. Its fields are not documented. */
  | 'HAVALE'
  /** JazzCash wallet (Pakistan). */
  | 'JAZZ_CASH'
  /** Nagad wallet (Bangladesh). */
  | 'NAGAD'
  /** A custom method, or one unknown to this gateway. */
  | 'OTHER'
  /** QR code (QRIS, Indonesia). */
  | 'QRIS'
  /** Rocket wallet (Bangladesh). */
  | 'ROCKET'
  /** The method "scheme", which has a type and no other fields. */
  | 'SCHEME'
  /** Unified Payments Interface (India). */
  | 'UPI'
  /** Virtual account at a bank (Indonesia). */
  | 'VIRTUAL_ACCOUNT';

/** Exactly one field. redirect: only the type is sent, and the payer pays on the hosted page. Any other: the fields of that method. */
export type PaymentMethodInput =
  {   /** bKash wallet without the hosted page. */
  bkash: BangladeshWalletInput; c2c?: never; card?: never; dcb?: never; easyPaisa?: never; ewallet?: never; havale?: never; jazzCash?: never; nagad?: never; other?: never; redirect?: never; rocket?: never; upi?: never; virtualAccount?: never; }
  |  { bkash?: never;   /** Card-to-card transfer without the hosted page. KZT. */
  c2c: C2cPaymentInput; card?: never; dcb?: never; easyPaisa?: never; ewallet?: never; havale?: never; jazzCash?: never; nagad?: never; other?: never; redirect?: never; rocket?: never; upi?: never; virtualAccount?: never; }
  |  { bkash?: never; c2c?: never;   /** Bank card, its data collected by the caller (PCI-DSS applies). EUR. */
  card: CardPaymentInput; dcb?: never; easyPaisa?: never; ewallet?: never; havale?: never; jazzCash?: never; nagad?: never; other?: never; redirect?: never; rocket?: never; upi?: never; virtualAccount?: never; }
  |  { bkash?: never; c2c?: never; card?: never;   /** Direct carrier billing: redirect with userId only, server-to-server with phone and names. */
  dcb: DcbPaymentInput; easyPaisa?: never; ewallet?: never; havale?: never; jazzCash?: never; nagad?: never; other?: never; redirect?: never; rocket?: never; upi?: never; virtualAccount?: never; }
  |  { bkash?: never; c2c?: never; card?: never; dcb?: never;   /** EasyPaisa wallet with the account number. PKR. */
  easyPaisa: WalletAccountInput; ewallet?: never; havale?: never; jazzCash?: never; nagad?: never; other?: never; redirect?: never; rocket?: never; upi?: never; virtualAccount?: never; }
  |  { bkash?: never; c2c?: never; card?: never; dcb?: never; easyPaisa?: never;   /** An e-wallet; redirect flow. IDR. */
  ewallet: EwalletPaymentInput; havale?: never; jazzCash?: never; nagad?: never; other?: never; redirect?: never; rocket?: never; upi?: never; virtualAccount?: never; }
  |  { bkash?: never; c2c?: never; card?: never; dcb?: never; easyPaisa?: never; ewallet?: never;   /** Havale with fields as agreed with the service. */
  havale: CustomFieldsInput; jazzCash?: never; nagad?: never; other?: never; redirect?: never; rocket?: never; upi?: never; virtualAccount?: never; }
  |  { bkash?: never; c2c?: never; card?: never; dcb?: never; easyPaisa?: never; ewallet?: never; havale?: never;   /** JazzCash wallet with the account number. PKR. */
  jazzCash: WalletAccountInput; nagad?: never; other?: never; redirect?: never; rocket?: never; upi?: never; virtualAccount?: never; }
  |  { bkash?: never; c2c?: never; card?: never; dcb?: never; easyPaisa?: never; ewallet?: never; havale?: never; jazzCash?: never;   /** Nagad wallet without the hosted page. */
  nagad: BangladeshWalletInput; other?: never; redirect?: never; rocket?: never; upi?: never; virtualAccount?: never; }
  |  { bkash?: never; c2c?: never; card?: never; dcb?: never; easyPaisa?: never; ewallet?: never; havale?: never; jazzCash?: never; nagad?: never;   /** A custom method with fields as agreed with the service. */
  other: CustomFieldsInput; redirect?: never; rocket?: never; upi?: never; virtualAccount?: never; }
  |  { bkash?: never; c2c?: never; card?: never; dcb?: never; easyPaisa?: never; ewallet?: never; havale?: never; jazzCash?: never; nagad?: never; other?: never;   /** Only the type is sent; the payer pays on the hosted page. */
  redirect: RedirectPaymentMethod; rocket?: never; upi?: never; virtualAccount?: never; }
  |  { bkash?: never; c2c?: never; card?: never; dcb?: never; easyPaisa?: never; ewallet?: never; havale?: never; jazzCash?: never; nagad?: never; other?: never; redirect?: never;   /** Rocket wallet without the hosted page. */
  rocket: BangladeshWalletInput; upi?: never; virtualAccount?: never; }
  |  { bkash?: never; c2c?: never; card?: never; dcb?: never; easyPaisa?: never; ewallet?: never; havale?: never; jazzCash?: never; nagad?: never; other?: never; redirect?: never; rocket?: never;   /** UPI without the hosted page, confirmed with a UTR. INR. */
  upi: UpiPaymentInput; virtualAccount?: never; }
  |  { bkash?: never; c2c?: never; card?: never; dcb?: never; easyPaisa?: never; ewallet?: never; havale?: never; jazzCash?: never; nagad?: never; other?: never; redirect?: never; rocket?: never; upi?: never;   /** A virtual account to which the payer transfers. IDR. */
  virtualAccount: VirtualAccountPaymentInput; };

/** The status of a payment (spec 3.1). */
export type PaymentStatus =
  /** Paid. Final. */
  | 'COMPLETED'
  /** Declined: see error. Final. */
  | 'FAILED'
  /** More or less than the amount was paid: see amount.received. */
  | 'MISPAID'
  /** Created; nothing has been paid yet. */
  | 'PENDING'
  /** In progress: see nextAction. */
  | 'PROCESSING'
  /** A status unknown to this gateway: see rawStatus. */
  | 'UNKNOWN';

/** The methods of payouts (spec 2.8). */
export type PayoutMethod =
  /** Bank transfer. */
  | 'BANK_TRANSFER'
  /** bKash wallet (Bangladesh). */
  | 'BKASH'
  /** Bank card. */
  | 'CARD'
  /** Direct carrier billing. */
  | 'DCB'
  /** EasyPaisa wallet (Pakistan). */
  | 'EASY_PAISA'
  /** IMPS: instant bank transfer (India). */
  | 'IMPS'
  /** JazzCash wallet (Pakistan). */
  | 'JAZZ_CASH'
  /** Nagad wallet (Bangladesh). */
  | 'NAGAD'
  /** An unknown method: one unknown to this gateway, or not sent by the service. */
  | 'OTHER'
  /** Rocket wallet (Bangladesh). */
  | 'ROCKET'
  /** The method "scheme", which has a type and no other fields. */
  | 'SCHEME';

/** Exactly one field: that of the method. */
export type PayoutMethodInput =
  {   /** To a bank account. The currencies depend on the channel. */
  bankTransfer: BankTransferPayoutInput; bkash?: never; card?: never; dcb?: never; easyPaisa?: never; imps?: never; jazzCash?: never; nagad?: never; other?: never; rocket?: never; typeOnly?: never; }
  |  { bankTransfer?: never;   /** To an account at bKash wallet (Bangladesh). BDT. */
  bkash: WalletPayoutInput; card?: never; dcb?: never; easyPaisa?: never; imps?: never; jazzCash?: never; nagad?: never; other?: never; rocket?: never; typeOnly?: never; }
  |  { bankTransfer?: never; bkash?: never;   /** To a bank card. KZT. */
  card: CardPayoutInput; dcb?: never; easyPaisa?: never; imps?: never; jazzCash?: never; nagad?: never; other?: never; rocket?: never; typeOnly?: never; }
  |  { bankTransfer?: never; bkash?: never; card?: never;   /** To a phone account. KZT. */
  dcb: DcbPayoutInput; easyPaisa?: never; imps?: never; jazzCash?: never; nagad?: never; other?: never; rocket?: never; typeOnly?: never; }
  |  { bankTransfer?: never; bkash?: never; card?: never; dcb?: never;   /** To an account at EasyPaisa wallet (Pakistan). PKR. */
  easyPaisa: WalletPayoutInput; imps?: never; jazzCash?: never; nagad?: never; other?: never; rocket?: never; typeOnly?: never; }
  |  { bankTransfer?: never; bkash?: never; card?: never; dcb?: never; easyPaisa?: never;   /** To a bank account in India, instantly. INR. */
  imps: ImpsPayoutInput; jazzCash?: never; nagad?: never; other?: never; rocket?: never; typeOnly?: never; }
  |  { bankTransfer?: never; bkash?: never; card?: never; dcb?: never; easyPaisa?: never; imps?: never;   /** To an account at JazzCash wallet (Pakistan). PKR. */
  jazzCash: WalletPayoutInput; nagad?: never; other?: never; rocket?: never; typeOnly?: never; }
  |  { bankTransfer?: never; bkash?: never; card?: never; dcb?: never; easyPaisa?: never; imps?: never; jazzCash?: never;   /** To an account at Nagad wallet (Bangladesh). BDT. */
  nagad: WalletPayoutInput; other?: never; rocket?: never; typeOnly?: never; }
  |  { bankTransfer?: never; bkash?: never; card?: never; dcb?: never; easyPaisa?: never; imps?: never; jazzCash?: never; nagad?: never;   /** A method unknown to this gateway, with fields as agreed with the service. */
  other: OtherPayoutInput; rocket?: never; typeOnly?: never; }
  |  { bankTransfer?: never; bkash?: never; card?: never; dcb?: never; easyPaisa?: never; imps?: never; jazzCash?: never; nagad?: never; other?: never;   /** To an account at Rocket wallet (Bangladesh). BDT. */
  rocket: WalletPayoutInput; typeOnly?: never; }
  |  { bankTransfer?: never; bkash?: never; card?: never; dcb?: never; easyPaisa?: never; imps?: never; jazzCash?: never; nagad?: never; other?: never; rocket?: never;   /** A method that needs nothing but its type. */
  typeOnly: TypeOnlyPayoutMethod; };

/** The status of a payout (spec 3.2). */
export type PayoutStatus =
  /** The funds were transferred. Final. */
  | 'COMPLETED'
  /** It could not be completed: see error. Final. */
  | 'FAILED'
  /** Created. */
  | 'PENDING'
  /** Created and awaiting confirmation. */
  | 'PROCESSING'
  /** A status unknown to this gateway: see rawStatus. */
  | 'UNKNOWN';

/** Methods that need nothing but their type: the payer pays on the hosted page. */
export type RedirectPaymentMethod =
  /** The payer pays from the wallet on the hosted page. */
  | 'BKASH'
  /** The payer makes the transfer on the hosted page. */
  | 'C2C'
  /** The payer enters the card on the hosted page. */
  | 'CARD'
  /** The payer enters the account on the hosted page. */
  | 'EASY_PAISA'
  /** The payer finishes on the hosted page. */
  | 'HAVALE'
  /** The payer enters the account on the hosted page. */
  | 'JAZZ_CASH'
  /** The payer pays from the wallet on the hosted page. */
  | 'NAGAD'
  /** The payer scans the code on the hosted page or in nextAction. IDR. */
  | 'QRIS'
  /** The payer pays from the wallet on the hosted page. */
  | 'ROCKET'
  /** The payer finishes on the hosted page. */
  | 'SCHEME'
  /** The payer pays by UPI on the hosted page. */
  | 'UPI';

/** Methods that need nothing but their type. */
export type TypeOnlyPayoutMethod =
  /** The method "scheme". */
  | 'SCHEME';

/** UPI, server-to-server (spec 2.5): the payer pays to a UPI id and provides the UTR for confirmPayment. At least one field. */
export type UpiPaymentInput = {
  /** The payer's email address. */
  email?: string | null | undefined;
  /** The payer's first name. */
  firstName?: string | null | undefined;
  /** The payer's last name. */
  lastName?: string | null | undefined;
  /** The payer's phone number, E.164; sent as given, with or without +. */
  phone?: string | null | undefined;
};

/** The expected failures of a mutation, one for each type that implements UserError. */
export type UserErrorCode =
  /** IdempotencyConflictError: the key belongs to a call with another input. */
  | 'IDEMPOTENCY_CONFLICT'
  /** InvalidInputError: this call sent nothing to the service. */
  | 'INVALID_INPUT'
  /** OutcomeUnknownError: the call may or may not have been carried out. */
  | 'OUTCOME_UNKNOWN'
  /** RejectedByServiceError: this call created or confirmed nothing. */
  | 'REJECTED_BY_SERVICE'
  /** RequestInProgressError: the same call is in progress. */
  | 'REQUEST_IN_PROGRESS';

/** Confirms a UPI payment (spec 4.5). */
export type UtrConfirmationInput = {
  /** The UTR: the reference number of the transfer, from the payer. */
  utr: string;
};

/** A virtual account made for this payment (spec 2.5). */
export type VirtualAccountPaymentInput = {
  /** The account from which the payer intends to pay. */
  accountNumber: string;
  /** The bank of the virtual account, for example "bca", "bni", "mandiri"; the list depends on the channel. */
  bankCode: string;
};

/** A mobile wallet, server-to-server (spec 2.5). */
export type WalletAccountInput = {
  /** The payer's account number at the wallet. */
  account: string;
};

/** A payout to a mobile wallet (spec 2.8). */
export type WalletPayoutInput = {
  /** The recipient's account number at the wallet. */
  accountNumber: string;
};

export type ConfirmPaymentMutationVariables = Exact<{
  input: ConfirmPaymentInput;
}>;


export type ConfirmPaymentMutation = { confirmPayment:
    | { __typename: 'InvalidInputError', code: UserErrorCode, message: string }
    | { __typename: 'OutcomeUnknownError', code: UserErrorCode, message: string }
    | { __typename: 'PaymentSuccess', replayed: boolean, payment:
        | { __typename: 'BkashPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'C2cPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'CardPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'DcbPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'EasyPaisaPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'EwalletPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'HavalePayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'JazzCashPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'NagadPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'OtherPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'QrisPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'RocketPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'SchemePayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'UpiPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'VirtualAccountPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
       }
    | { __typename: 'RejectedByServiceError', httpStatus: number, code: UserErrorCode, message: string }
    | { __typename: 'RequestInProgressError', code: UserErrorCode, message: string }
   };

export type CreatePaymentMutationVariables = Exact<{
  input: CreatePaymentInput;
}>;


export type CreatePaymentMutation = { createPayment:
    | { __typename: 'IdempotencyConflictError', code: UserErrorCode, message: string }
    | { __typename: 'InvalidInputError', code: UserErrorCode, message: string, fields: Array<{ path: Array<string>, rule: string, message: string }> }
    | { __typename: 'OutcomeUnknownError', idempotencyKey: string | null, externalId: string | null, code: UserErrorCode, message: string }
    | { __typename: 'PaymentSuccess', replayed: boolean, payment:
        | { __typename: 'BkashPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'C2cPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'CardPayment', cardMask: string | null, id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'DcbPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'EasyPaisaPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'EwalletPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'HavalePayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'JazzCashPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'NagadPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'OtherPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'QrisPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'RocketPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'SchemePayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'UpiPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
        | { __typename: 'VirtualAccountPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
            | { __typename: 'AwaitProviderAction', pollAfterMs: number }
            | { __typename: 'ConfirmTransferAction' }
            | { __typename: 'PayVirtualAccountAction' }
            | { __typename: 'ProvideCodeAction' }
            | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            | { __typename: 'RedirectAction', url: string }
            | { __typename: 'ScanQrCodeAction' }
           | null }
       }
    | { __typename: 'RejectedByServiceError', httpStatus: number, code: UserErrorCode, message: string }
    | { __typename: 'RequestInProgressError', code: UserErrorCode, message: string }
   };

export type CreatePayoutMutationVariables = Exact<{
  input: CreatePayoutInput;
}>;


export type CreatePayoutMutation = { createPayout:
    | { __typename: 'IdempotencyConflictError', code: UserErrorCode, message: string }
    | { __typename: 'InvalidInputError', code: UserErrorCode, message: string, fields: Array<{ path: Array<string>, rule: string, message: string }> }
    | { __typename: 'OutcomeUnknownError', code: UserErrorCode, message: string }
    | { __typename: 'PayoutSuccess', replayed: boolean, payout:
        | { __typename: 'BankTransferPayout', bankName: string | null, accountMask: string | null, id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
        | { __typename: 'BkashPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
        | { __typename: 'CardPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
        | { __typename: 'DcbPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
        | { __typename: 'EasyPaisaPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
        | { __typename: 'ImpsPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
        | { __typename: 'JazzCashPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
        | { __typename: 'NagadPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
        | { __typename: 'OtherPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
        | { __typename: 'RocketPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
        | { __typename: 'SchemePayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
       }
    | { __typename: 'RejectedByServiceError', code: UserErrorCode, message: string }
    | { __typename: 'RequestInProgressError', code: UserErrorCode, message: string }
   };

type PaymentFields_BkashPayment_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
    | { __typename: 'AwaitProviderAction', pollAfterMs: number }
    | { __typename: 'ConfirmTransferAction' }
    | { __typename: 'PayVirtualAccountAction' }
    | { __typename: 'ProvideCodeAction' }
    | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
    | { __typename: 'RedirectAction', url: string }
    | { __typename: 'ScanQrCodeAction' }
   | null };

type PaymentFields_C2cPayment_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
    | { __typename: 'AwaitProviderAction', pollAfterMs: number }
    | { __typename: 'ConfirmTransferAction' }
    | { __typename: 'PayVirtualAccountAction' }
    | { __typename: 'ProvideCodeAction' }
    | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
    | { __typename: 'RedirectAction', url: string }
    | { __typename: 'ScanQrCodeAction' }
   | null };

type PaymentFields_CardPayment_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
    | { __typename: 'AwaitProviderAction', pollAfterMs: number }
    | { __typename: 'ConfirmTransferAction' }
    | { __typename: 'PayVirtualAccountAction' }
    | { __typename: 'ProvideCodeAction' }
    | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
    | { __typename: 'RedirectAction', url: string }
    | { __typename: 'ScanQrCodeAction' }
   | null };

type PaymentFields_DcbPayment_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
    | { __typename: 'AwaitProviderAction', pollAfterMs: number }
    | { __typename: 'ConfirmTransferAction' }
    | { __typename: 'PayVirtualAccountAction' }
    | { __typename: 'ProvideCodeAction' }
    | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
    | { __typename: 'RedirectAction', url: string }
    | { __typename: 'ScanQrCodeAction' }
   | null };

type PaymentFields_EasyPaisaPayment_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
    | { __typename: 'AwaitProviderAction', pollAfterMs: number }
    | { __typename: 'ConfirmTransferAction' }
    | { __typename: 'PayVirtualAccountAction' }
    | { __typename: 'ProvideCodeAction' }
    | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
    | { __typename: 'RedirectAction', url: string }
    | { __typename: 'ScanQrCodeAction' }
   | null };

type PaymentFields_EwalletPayment_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
    | { __typename: 'AwaitProviderAction', pollAfterMs: number }
    | { __typename: 'ConfirmTransferAction' }
    | { __typename: 'PayVirtualAccountAction' }
    | { __typename: 'ProvideCodeAction' }
    | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
    | { __typename: 'RedirectAction', url: string }
    | { __typename: 'ScanQrCodeAction' }
   | null };

type PaymentFields_HavalePayment_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
    | { __typename: 'AwaitProviderAction', pollAfterMs: number }
    | { __typename: 'ConfirmTransferAction' }
    | { __typename: 'PayVirtualAccountAction' }
    | { __typename: 'ProvideCodeAction' }
    | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
    | { __typename: 'RedirectAction', url: string }
    | { __typename: 'ScanQrCodeAction' }
   | null };

type PaymentFields_JazzCashPayment_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
    | { __typename: 'AwaitProviderAction', pollAfterMs: number }
    | { __typename: 'ConfirmTransferAction' }
    | { __typename: 'PayVirtualAccountAction' }
    | { __typename: 'ProvideCodeAction' }
    | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
    | { __typename: 'RedirectAction', url: string }
    | { __typename: 'ScanQrCodeAction' }
   | null };

type PaymentFields_NagadPayment_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
    | { __typename: 'AwaitProviderAction', pollAfterMs: number }
    | { __typename: 'ConfirmTransferAction' }
    | { __typename: 'PayVirtualAccountAction' }
    | { __typename: 'ProvideCodeAction' }
    | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
    | { __typename: 'RedirectAction', url: string }
    | { __typename: 'ScanQrCodeAction' }
   | null };

type PaymentFields_OtherPayment_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
    | { __typename: 'AwaitProviderAction', pollAfterMs: number }
    | { __typename: 'ConfirmTransferAction' }
    | { __typename: 'PayVirtualAccountAction' }
    | { __typename: 'ProvideCodeAction' }
    | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
    | { __typename: 'RedirectAction', url: string }
    | { __typename: 'ScanQrCodeAction' }
   | null };

type PaymentFields_QrisPayment_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
    | { __typename: 'AwaitProviderAction', pollAfterMs: number }
    | { __typename: 'ConfirmTransferAction' }
    | { __typename: 'PayVirtualAccountAction' }
    | { __typename: 'ProvideCodeAction' }
    | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
    | { __typename: 'RedirectAction', url: string }
    | { __typename: 'ScanQrCodeAction' }
   | null };

type PaymentFields_RocketPayment_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
    | { __typename: 'AwaitProviderAction', pollAfterMs: number }
    | { __typename: 'ConfirmTransferAction' }
    | { __typename: 'PayVirtualAccountAction' }
    | { __typename: 'ProvideCodeAction' }
    | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
    | { __typename: 'RedirectAction', url: string }
    | { __typename: 'ScanQrCodeAction' }
   | null };

type PaymentFields_SchemePayment_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
    | { __typename: 'AwaitProviderAction', pollAfterMs: number }
    | { __typename: 'ConfirmTransferAction' }
    | { __typename: 'PayVirtualAccountAction' }
    | { __typename: 'ProvideCodeAction' }
    | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
    | { __typename: 'RedirectAction', url: string }
    | { __typename: 'ScanQrCodeAction' }
   | null };

type PaymentFields_UpiPayment_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
    | { __typename: 'AwaitProviderAction', pollAfterMs: number }
    | { __typename: 'ConfirmTransferAction' }
    | { __typename: 'PayVirtualAccountAction' }
    | { __typename: 'ProvideCodeAction' }
    | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
    | { __typename: 'RedirectAction', url: string }
    | { __typename: 'ScanQrCodeAction' }
   | null };

type PaymentFields_VirtualAccountPayment_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
    | { __typename: 'AwaitProviderAction', pollAfterMs: number }
    | { __typename: 'ConfirmTransferAction' }
    | { __typename: 'PayVirtualAccountAction' }
    | { __typename: 'ProvideCodeAction' }
    | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
    | { __typename: 'RedirectAction', url: string }
    | { __typename: 'ScanQrCodeAction' }
   | null };

export type PaymentFieldsFragment =
  | PaymentFields_BkashPayment_Fragment
  | PaymentFields_C2cPayment_Fragment
  | PaymentFields_CardPayment_Fragment
  | PaymentFields_DcbPayment_Fragment
  | PaymentFields_EasyPaisaPayment_Fragment
  | PaymentFields_EwalletPayment_Fragment
  | PaymentFields_HavalePayment_Fragment
  | PaymentFields_JazzCashPayment_Fragment
  | PaymentFields_NagadPayment_Fragment
  | PaymentFields_OtherPayment_Fragment
  | PaymentFields_QrisPayment_Fragment
  | PaymentFields_RocketPayment_Fragment
  | PaymentFields_SchemePayment_Fragment
  | PaymentFields_UpiPayment_Fragment
  | PaymentFields_VirtualAccountPayment_Fragment
;

type ErrorFields_IdempotencyConflictError_Fragment = { code: UserErrorCode, message: string };

type ErrorFields_InvalidInputError_Fragment = { code: UserErrorCode, message: string };

type ErrorFields_OutcomeUnknownError_Fragment = { code: UserErrorCode, message: string };

type ErrorFields_RejectedByServiceError_Fragment = { code: UserErrorCode, message: string };

type ErrorFields_RequestInProgressError_Fragment = { code: UserErrorCode, message: string };

export type ErrorFieldsFragment =
  | ErrorFields_IdempotencyConflictError_Fragment
  | ErrorFields_InvalidInputError_Fragment
  | ErrorFields_OutcomeUnknownError_Fragment
  | ErrorFields_RejectedByServiceError_Fragment
  | ErrorFields_RequestInProgressError_Fragment
;

type PayoutFields_BankTransferPayout_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null };

type PayoutFields_BkashPayout_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null };

type PayoutFields_CardPayout_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null };

type PayoutFields_DcbPayout_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null };

type PayoutFields_EasyPaisaPayout_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null };

type PayoutFields_ImpsPayout_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null };

type PayoutFields_JazzCashPayout_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null };

type PayoutFields_NagadPayout_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null };

type PayoutFields_OtherPayout_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null };

type PayoutFields_RocketPayout_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null };

type PayoutFields_SchemePayout_Fragment = { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null };

export type PayoutFieldsFragment =
  | PayoutFields_BankTransferPayout_Fragment
  | PayoutFields_BkashPayout_Fragment
  | PayoutFields_CardPayout_Fragment
  | PayoutFields_DcbPayout_Fragment
  | PayoutFields_EasyPaisaPayout_Fragment
  | PayoutFields_ImpsPayout_Fragment
  | PayoutFields_JazzCashPayout_Fragment
  | PayoutFields_NagadPayout_Fragment
  | PayoutFields_OtherPayout_Fragment
  | PayoutFields_RocketPayout_Fragment
  | PayoutFields_SchemePayout_Fragment
;

export type PaymentQueryVariables = Exact<{
  channel: string;
  transactionId?: string | null | undefined;
  externalId?: string | null | undefined;
}>;


export type PaymentQuery = { payment:
    | { __typename: 'BkashPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'C2cPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'CardPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'DcbPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'EasyPaisaPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'EwalletPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'HavalePayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'JazzCashPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'NagadPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'OtherPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'QrisPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'RocketPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'SchemePayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'UpiPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'VirtualAccountPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
   | null };

export type PaymentsQueryVariables = Exact<{
  channel: string;
  transactionIds: Array<string> | string;
}>;


export type PaymentsQuery = { payments: Array<
    | { __typename: 'BkashPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'C2cPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'CardPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'DcbPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'EasyPaisaPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'EwalletPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'HavalePayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'JazzCashPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'NagadPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'OtherPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'QrisPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'RocketPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'SchemePayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'UpiPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'VirtualAccountPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
   | null> };

export type PayoutQueryVariables = Exact<{
  channel: string;
  transactionId?: string | null | undefined;
  externalId?: string | null | undefined;
}>;


export type PayoutQuery = { payout:
    | { __typename: 'BankTransferPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'BkashPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'CardPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'DcbPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'EasyPaisaPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'ImpsPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'JazzCashPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'NagadPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'OtherPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'RocketPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'SchemePayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
   | null };

export type NodeQueryVariables = Exact<{
  id: string | number;
}>;


export type NodeQuery = { node:
    | { __typename: 'BankTransferPayout', id: string, payoutStatus: PayoutStatus }
    | { __typename: 'BkashPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'BkashPayout', id: string, payoutStatus: PayoutStatus }
    | { __typename: 'C2cPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'CardPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'CardPayout', id: string, payoutStatus: PayoutStatus }
    | { __typename: 'DcbPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'DcbPayout', id: string, payoutStatus: PayoutStatus }
    | { __typename: 'EasyPaisaPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'EasyPaisaPayout', id: string, payoutStatus: PayoutStatus }
    | { __typename: 'EwalletPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'HavalePayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'ImpsPayout', id: string, payoutStatus: PayoutStatus }
    | { __typename: 'JazzCashPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'JazzCashPayout', id: string, payoutStatus: PayoutStatus }
    | { __typename: 'NagadPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'NagadPayout', id: string, payoutStatus: PayoutStatus }
    | { __typename: 'OtherPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'OtherPayout', id: string, payoutStatus: PayoutStatus }
    | { __typename: 'QrisPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'RocketPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'RocketPayout', id: string, payoutStatus: PayoutStatus }
    | { __typename: 'SchemePayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'SchemePayout', id: string, payoutStatus: PayoutStatus }
    | { __typename: 'UpiPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'VirtualAccountPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
   | null };

export type PaymentUpdatedSubscriptionVariables = Exact<{
  channel: string;
  transactionId: string;
}>;


export type PaymentUpdatedSubscription = { paymentUpdated:
    | { __typename: 'BkashPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'C2cPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'CardPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'DcbPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'EasyPaisaPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'EwalletPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'HavalePayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'JazzCashPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'NagadPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'OtherPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'QrisPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'RocketPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'SchemePayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'UpiPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
    | { __typename: 'VirtualAccountPayment', id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, redirectUrl: string | null, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null, nextAction:
        | { __typename: 'AwaitProviderAction', pollAfterMs: number }
        | { __typename: 'ConfirmTransferAction' }
        | { __typename: 'PayVirtualAccountAction' }
        | { __typename: 'ProvideCodeAction' }
        | { __typename: 'ProvideUtrAction', upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        | { __typename: 'RedirectAction', url: string }
        | { __typename: 'ScanQrCodeAction' }
       | null }
   };

export type PayoutUpdatedSubscriptionVariables = Exact<{
  channel: string;
  transactionId: string;
}>;


export type PayoutUpdatedSubscription = { payoutUpdated:
    | { __typename: 'BankTransferPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'BkashPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'CardPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'DcbPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'EasyPaisaPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'ImpsPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'JazzCashPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'NagadPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'OtherPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'RocketPayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
    | { __typename: 'SchemePayout', id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string } | null, error: { code: DeclineCode, message: string } | null }
   };

export const PaymentFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PaymentFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PaymentResource"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}},{"kind":"Field","name":{"kind":"Name","value":"channel"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","name":{"kind":"Name","value":"method"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"rawStatus"}},{"kind":"Field","name":{"kind":"Name","value":"amount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"currency"}},{"kind":"Field","name":{"kind":"Name","value":"value"}},{"kind":"Field","name":{"kind":"Name","value":"received"}}]}},{"kind":"Field","name":{"kind":"Name","value":"redirectUrl"}},{"kind":"Field","name":{"kind":"Name","value":"createDate"}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"rawCode"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nextAction"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"RedirectAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"url"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ProvideUtrAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"upiId"}},{"kind":"Field","name":{"kind":"Name","value":"upiLink"}},{"kind":"Field","name":{"kind":"Name","value":"confirmWith"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"AwaitProviderAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"pollAfterMs"}}]}}]}}]}}]} as unknown as DocumentNode<PaymentFieldsFragment, unknown>;
export const ErrorFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ErrorFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"UserError"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]} as unknown as DocumentNode<ErrorFieldsFragment, unknown>;
export const PayoutFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PayoutFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PayoutResource"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}},{"kind":"Field","name":{"kind":"Name","value":"channel"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","name":{"kind":"Name","value":"method"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"rawStatus"}},{"kind":"Field","name":{"kind":"Name","value":"amount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"currency"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]} as unknown as DocumentNode<PayoutFieldsFragment, unknown>;
export const ConfirmPaymentDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"ConfirmPayment"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ConfirmPaymentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"confirmPayment"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PaymentSuccess"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"payment"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PaymentFields"}}]}}]}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"ErrorFields"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"RejectedByServiceError"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"httpStatus"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PaymentFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PaymentResource"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}},{"kind":"Field","name":{"kind":"Name","value":"channel"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","name":{"kind":"Name","value":"method"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"rawStatus"}},{"kind":"Field","name":{"kind":"Name","value":"amount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"currency"}},{"kind":"Field","name":{"kind":"Name","value":"value"}},{"kind":"Field","name":{"kind":"Name","value":"received"}}]}},{"kind":"Field","name":{"kind":"Name","value":"redirectUrl"}},{"kind":"Field","name":{"kind":"Name","value":"createDate"}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"rawCode"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nextAction"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"RedirectAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"url"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ProvideUtrAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"upiId"}},{"kind":"Field","name":{"kind":"Name","value":"upiLink"}},{"kind":"Field","name":{"kind":"Name","value":"confirmWith"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"AwaitProviderAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"pollAfterMs"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ErrorFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"UserError"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]} as unknown as DocumentNode<ConfirmPaymentMutation, ConfirmPaymentMutationVariables>;
export const CreatePaymentDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreatePayment"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreatePaymentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createPayment"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PaymentSuccess"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"payment"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PaymentFields"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CardPayment"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cardMask"}}]}}]}}]}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"ErrorFields"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"InvalidInputError"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"fields"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"path"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"RejectedByServiceError"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"httpStatus"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"OutcomeUnknownError"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"idempotencyKey"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PaymentFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PaymentResource"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}},{"kind":"Field","name":{"kind":"Name","value":"channel"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","name":{"kind":"Name","value":"method"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"rawStatus"}},{"kind":"Field","name":{"kind":"Name","value":"amount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"currency"}},{"kind":"Field","name":{"kind":"Name","value":"value"}},{"kind":"Field","name":{"kind":"Name","value":"received"}}]}},{"kind":"Field","name":{"kind":"Name","value":"redirectUrl"}},{"kind":"Field","name":{"kind":"Name","value":"createDate"}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"rawCode"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nextAction"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"RedirectAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"url"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ProvideUtrAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"upiId"}},{"kind":"Field","name":{"kind":"Name","value":"upiLink"}},{"kind":"Field","name":{"kind":"Name","value":"confirmWith"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"AwaitProviderAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"pollAfterMs"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ErrorFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"UserError"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]} as unknown as DocumentNode<CreatePaymentMutation, CreatePaymentMutationVariables>;
export const CreatePayoutDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreatePayout"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreatePayoutInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createPayout"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PayoutSuccess"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"payout"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PayoutFields"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"BankTransferPayout"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"bankName"}},{"kind":"Field","name":{"kind":"Name","value":"accountMask"}}]}}]}}]}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"ErrorFields"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"InvalidInputError"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"fields"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"path"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PayoutFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PayoutResource"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}},{"kind":"Field","name":{"kind":"Name","value":"channel"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","name":{"kind":"Name","value":"method"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"rawStatus"}},{"kind":"Field","name":{"kind":"Name","value":"amount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"currency"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ErrorFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"UserError"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]} as unknown as DocumentNode<CreatePayoutMutation, CreatePayoutMutationVariables>;
export const PaymentDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Payment"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"channel"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"transactionId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"externalId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"payment"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"channel"},"value":{"kind":"Variable","name":{"kind":"Name","value":"channel"}}},{"kind":"Argument","name":{"kind":"Name","value":"transactionId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"transactionId"}}},{"kind":"Argument","name":{"kind":"Name","value":"externalId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"externalId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PaymentFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PaymentFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PaymentResource"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}},{"kind":"Field","name":{"kind":"Name","value":"channel"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","name":{"kind":"Name","value":"method"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"rawStatus"}},{"kind":"Field","name":{"kind":"Name","value":"amount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"currency"}},{"kind":"Field","name":{"kind":"Name","value":"value"}},{"kind":"Field","name":{"kind":"Name","value":"received"}}]}},{"kind":"Field","name":{"kind":"Name","value":"redirectUrl"}},{"kind":"Field","name":{"kind":"Name","value":"createDate"}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"rawCode"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nextAction"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"RedirectAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"url"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ProvideUtrAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"upiId"}},{"kind":"Field","name":{"kind":"Name","value":"upiLink"}},{"kind":"Field","name":{"kind":"Name","value":"confirmWith"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"AwaitProviderAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"pollAfterMs"}}]}}]}}]}}]} as unknown as DocumentNode<PaymentQuery, PaymentQueryVariables>;
export const PaymentsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Payments"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"channel"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"transactionIds"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"payments"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"channel"},"value":{"kind":"Variable","name":{"kind":"Name","value":"channel"}}},{"kind":"Argument","name":{"kind":"Name","value":"transactionIds"},"value":{"kind":"Variable","name":{"kind":"Name","value":"transactionIds"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PaymentFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PaymentFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PaymentResource"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}},{"kind":"Field","name":{"kind":"Name","value":"channel"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","name":{"kind":"Name","value":"method"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"rawStatus"}},{"kind":"Field","name":{"kind":"Name","value":"amount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"currency"}},{"kind":"Field","name":{"kind":"Name","value":"value"}},{"kind":"Field","name":{"kind":"Name","value":"received"}}]}},{"kind":"Field","name":{"kind":"Name","value":"redirectUrl"}},{"kind":"Field","name":{"kind":"Name","value":"createDate"}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"rawCode"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nextAction"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"RedirectAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"url"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ProvideUtrAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"upiId"}},{"kind":"Field","name":{"kind":"Name","value":"upiLink"}},{"kind":"Field","name":{"kind":"Name","value":"confirmWith"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"AwaitProviderAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"pollAfterMs"}}]}}]}}]}}]} as unknown as DocumentNode<PaymentsQuery, PaymentsQueryVariables>;
export const PayoutDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Payout"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"channel"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"transactionId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"externalId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"payout"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"channel"},"value":{"kind":"Variable","name":{"kind":"Name","value":"channel"}}},{"kind":"Argument","name":{"kind":"Name","value":"transactionId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"transactionId"}}},{"kind":"Argument","name":{"kind":"Name","value":"externalId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"externalId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PayoutFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PayoutFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PayoutResource"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}},{"kind":"Field","name":{"kind":"Name","value":"channel"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","name":{"kind":"Name","value":"method"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"rawStatus"}},{"kind":"Field","name":{"kind":"Name","value":"amount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"currency"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]} as unknown as DocumentNode<PayoutQuery, PayoutQueryVariables>;
export const NodeDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Node"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"node"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PaymentFields"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PayoutResource"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","alias":{"kind":"Name","value":"payoutStatus"},"name":{"kind":"Name","value":"status"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PaymentFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PaymentResource"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}},{"kind":"Field","name":{"kind":"Name","value":"channel"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","name":{"kind":"Name","value":"method"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"rawStatus"}},{"kind":"Field","name":{"kind":"Name","value":"amount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"currency"}},{"kind":"Field","name":{"kind":"Name","value":"value"}},{"kind":"Field","name":{"kind":"Name","value":"received"}}]}},{"kind":"Field","name":{"kind":"Name","value":"redirectUrl"}},{"kind":"Field","name":{"kind":"Name","value":"createDate"}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"rawCode"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nextAction"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"RedirectAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"url"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ProvideUtrAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"upiId"}},{"kind":"Field","name":{"kind":"Name","value":"upiLink"}},{"kind":"Field","name":{"kind":"Name","value":"confirmWith"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"AwaitProviderAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"pollAfterMs"}}]}}]}}]}}]} as unknown as DocumentNode<NodeQuery, NodeQueryVariables>;
export const PaymentUpdatedDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"PaymentUpdated"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"channel"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"transactionId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"paymentUpdated"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"channel"},"value":{"kind":"Variable","name":{"kind":"Name","value":"channel"}}},{"kind":"Argument","name":{"kind":"Name","value":"transactionId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"transactionId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PaymentFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PaymentFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PaymentResource"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}},{"kind":"Field","name":{"kind":"Name","value":"channel"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","name":{"kind":"Name","value":"method"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"rawStatus"}},{"kind":"Field","name":{"kind":"Name","value":"amount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"currency"}},{"kind":"Field","name":{"kind":"Name","value":"value"}},{"kind":"Field","name":{"kind":"Name","value":"received"}}]}},{"kind":"Field","name":{"kind":"Name","value":"redirectUrl"}},{"kind":"Field","name":{"kind":"Name","value":"createDate"}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"rawCode"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nextAction"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"RedirectAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"url"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ProvideUtrAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"upiId"}},{"kind":"Field","name":{"kind":"Name","value":"upiLink"}},{"kind":"Field","name":{"kind":"Name","value":"confirmWith"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"AwaitProviderAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"pollAfterMs"}}]}}]}}]}}]} as unknown as DocumentNode<PaymentUpdatedSubscription, PaymentUpdatedSubscriptionVariables>;
export const PayoutUpdatedDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"PayoutUpdated"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"channel"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"transactionId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"payoutUpdated"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"channel"},"value":{"kind":"Variable","name":{"kind":"Name","value":"channel"}}},{"kind":"Argument","name":{"kind":"Name","value":"transactionId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"transactionId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PayoutFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PayoutFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PayoutResource"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}},{"kind":"Field","name":{"kind":"Name","value":"channel"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","name":{"kind":"Name","value":"method"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"rawStatus"}},{"kind":"Field","name":{"kind":"Name","value":"amount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"currency"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]} as unknown as DocumentNode<PayoutUpdatedSubscription, PayoutUpdatedSubscriptionVariables>;