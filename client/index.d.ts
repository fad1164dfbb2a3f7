/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
// Made by `npm run codegen` from client/operations and client/src; do not edit.
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
/** An amount of money to collect or to send. */
export type AmountInput = {
  /** ISO 4217 code. Some methods accept only one currency (spec section 8); any other is an InvalidInputError. */
  currency: string;
  /** Above zero, with at most two decimals. Sent to the service with exactly two. */
  value: string;
};

/** The mutation that a create call used. */
export type AttemptOperation =
  /** The mutation createPayment. */
  | 'CREATE_PAYMENT'
  /** The mutation createPayout. */
  | 'CREATE_PAYOUT';

/** The outcome of a create call. */
export type AttemptOutcome =
  /** The call is in progress: query the attempt again in a moment. */
  | 'IN_PROGRESS'
  /** Certainly nothing was created: the call did not reach the service, was not processed there (for example 401 or 429), or later turned out to have created nothing. The key may be used again. */
  | 'NOT_SENT'
  /** The service rejected the input of the call: nothing was created, and the key may be used again. */
  | 'REJECTED'
  /** The payment or payout was created; it can still be declined later. */
  | 'SUCCEEDED'
  /** The call may or may not have reached the service. The gateway looks up the payment or payout repeatedly. If the outcome stays unknown, the operator records it. Never repeat the call with a new key. */
  | 'UNKNOWN';

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
  /** The bank's SWIFT code, routing code, IFSC or MFO, depending on the region. */
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
  /** The payer made the transfer, or is expected to make it. */
  | 'TRANSFER_MADE';

/** Card-to-card transfer, server-to-server (spec 2.5): nextAction names the card to which the payer transfers the money; then the caller calls confirmPayment. At least one field is required. */
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

/** A bank card, server-to-server (spec 2.5): the caller must comply with PCI-DSS. nextAction may ask for 3-D Secure. */
export type CardPaymentInput = {
  /** The full address, instead of countryCode, city, street and postalCode. */
  address?: string | null | undefined;
  /** The payer's date of birth, YYYY-MM-DD. */
  birthDate?: string | null | undefined;
  /** The name on the card. */
  cardholder: string;
  /** The payer's city. */
  city?: string | null | undefined;
  /** The payer's country, ISO 3166-1 alpha-2, for example DE. */
  countryCode?: string | null | undefined;
  /** The security code, 3 or 4 digits. */
  cvc: string;
  /** The payer's email address. */
  email?: string | null | undefined;
  /** The month in which the card expires, MM, 01 to 12. */
  expiryMonth: string;
  /** The year in which the card expires, YYYY. The card must not have expired. */
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
  /** The code that the payer provides. */
  code: string;
};

/** The confirmation of a server-to-server payment that waits for it (spec 4.5). */
export type ConfirmPaymentInput = {
  /** The merchant channel of the payment. */
  channel: string;
  /** The field that nextAction.confirmWith names. */
  confirmation: ConfirmationInput;
  /** The payment to confirm. */
  transactionId: string;
};

/** The names of the fields of ConfirmationInput. */
export type ConfirmationField =
  /** For bKash: the code. */
  | 'bkash'
  /** For card-to-card transfers: states that the transfer was made. */
  | 'c2c'
  /** For direct carrier billing: the code. */
  | 'dcb'
  /** For Nagad: the code. */
  | 'nagad'
  /** For Rocket: the code. */
  | 'rocket'
  /** For UPI: the UTR, the reference number of the transfer. */
  | 'upi';

/** Exactly one field: the one that nextAction.confirmWith names. */
export type ConfirmationInput =
  {   /** For bKash: the code. */
  bkash: CodeConfirmationInput; c2c?: never; dcb?: never; nagad?: never; rocket?: never; upi?: never; }
  |  { bkash?: never;   /** For card-to-card transfers: states that the transfer was made. */
  c2c: C2cConfirmation; dcb?: never; nagad?: never; rocket?: never; upi?: never; }
  |  { bkash?: never; c2c?: never;   /** For direct carrier billing: the code. */
  dcb: CodeConfirmationInput; nagad?: never; rocket?: never; upi?: never; }
  |  { bkash?: never; c2c?: never; dcb?: never;   /** For Nagad: the code. */
  nagad: CodeConfirmationInput; rocket?: never; upi?: never; }
  |  { bkash?: never; c2c?: never; dcb?: never; nagad?: never;   /** For Rocket: the code. */
  rocket: CodeConfirmationInput; upi?: never; }
  |  { bkash?: never; c2c?: never; dcb?: never; nagad?: never; rocket?: never;   /** For UPI: the UTR, the reference number of the transfer. */
  upi: UtrConfirmationInput; };

/** A payment to create (spec 2.4). */
export type CreatePaymentInput = {
  /** The amount that the payer has to pay. */
  amount: AmountInput;
  /** The URL that the service notifies of changes (spec section 6). Must be https to a public host, without credentials. In the sandbox, http to a loopback host is also allowed. The gateway may allow only some hosts. Sent to the service unchanged. */
  callbackUrl?: string | null | undefined;
  /** The merchant channel. */
  channel: string;
  /** Free text, at most 1000 characters. */
  description?: string | null | undefined;
  /** The identifier in the client's system, for example an order number; at most 255 characters. Generated by the gateway if absent. */
  externalId?: string | null | undefined;
  /** A key of 1 to 255 printable characters that the client chooses for one payment or payout. While the gateway keeps the key, calls of this client with it never create a second one. It is kept for at least 30 days after the outcome was recorded. */
  idempotencyKey: string | number;
  /** The payment method, with its fields. */
  method: PaymentMethodInput;
  /** The page to which the payer returns; recommended. Must be https to a public host, without credentials. In the sandbox, http to a loopback host is also allowed. The gateway may allow only some hosts. Sent to the service unchanged. */
  returnUrl?: string | null | undefined;
};

/** A payout to create (spec 2.7). */
export type CreatePayoutInput = {
  /** The amount that the recipient gets. */
  amount: AmountInput;
  /** The URL that the service notifies of changes (spec section 6). Must be https to a public host, without credentials. In the sandbox, http to a loopback host is also allowed. The gateway may allow only some hosts. Sent to the service unchanged. */
  callbackUrl?: string | null | undefined;
  /** The merchant channel. */
  channel: string;
  /** Free text, at most 1000 characters. */
  description?: string | null | undefined;
  /** The order or payout identifier in the client's system, at most 255 characters. */
  externalId: string;
  /** A key of 1 to 255 printable characters that the client chooses for one payment or payout. While the gateway keeps the key, calls of this client with it never create a second one. It is kept for at least 30 days after the outcome was recorded. */
  idempotencyKey: string | number;
  /** The payout method, with its fields. */
  method: PayoutMethodInput;
};

/** A method whose fields the service does not document (spec 2.5). */
export type CustomFieldsInput = {
  /** The fields of the method without its field `type`. They are sent unchanged. No value may look like a full card number. */
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

/** The reason for a decline. The gateway recognises it in the provider's free text, whose wording is not specified. */
export type DeclineReason =
  /** The payer was not authenticated (3-D Secure). */
  | 'AUTHENTICATION_FAILED'
  /** The card has expired. */
  | 'CARD_EXPIRED'
  /** The issuer declined without a reason ("do not honor"). */
  | 'DO_NOT_HONOR'
  /** Not enough money on the account. */
  | 'INSUFFICIENT_FUNDS'
  /** The transaction is not permitted for this card or account. */
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
  /** The fields of the method without its field `type`. They are sent unchanged. No value may look like a full card number. */
  fields: Record<string, unknown>;
  /** The payout_method.type to send. Rejected if PayoutMethodInput has a field for this type, or if typeOnly offers it. */
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
  /** Havale: bank transfer with phone, user id and names. The exact fields are not documented. */
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

/** Exactly one field, which selects the method. redirect: only the type of the method is sent, and the payer pays on the hosted page. Each other field contains the data of its method. */
export type PaymentMethodInput =
  {   /** bKash wallet without the hosted page. */
  bkash: BangladeshWalletInput; c2c?: never; card?: never; dcb?: never; easyPaisa?: never; ewallet?: never; havale?: never; jazzCash?: never; nagad?: never; other?: never; redirect?: never; rocket?: never; upi?: never; virtualAccount?: never; }
  |  { bkash?: never;   /** Card-to-card transfer without the hosted page. KZT. */
  c2c: C2cPaymentInput; card?: never; dcb?: never; easyPaisa?: never; ewallet?: never; havale?: never; jazzCash?: never; nagad?: never; other?: never; redirect?: never; rocket?: never; upi?: never; virtualAccount?: never; }
  |  { bkash?: never; c2c?: never;   /** Bank card. The caller collects the card data (PCI-DSS applies). EUR. */
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
  |  { bkash?: never; c2c?: never; card?: never; dcb?: never; easyPaisa?: never; ewallet?: never; havale?: never; jazzCash?: never; nagad?: never; other?: never;   /** Only the type of the method is sent; the payer pays on the hosted page. */
  redirect: RedirectPaymentMethod; rocket?: never; upi?: never; virtualAccount?: never; }
  |  { bkash?: never; c2c?: never; card?: never; dcb?: never; easyPaisa?: never; ewallet?: never; havale?: never; jazzCash?: never; nagad?: never; other?: never; redirect?: never;   /** Rocket wallet without the hosted page. */
  rocket: BangladeshWalletInput; upi?: never; virtualAccount?: never; }
  |  { bkash?: never; c2c?: never; card?: never; dcb?: never; easyPaisa?: never; ewallet?: never; havale?: never; jazzCash?: never; nagad?: never; other?: never; redirect?: never; rocket?: never;   /** UPI without the hosted page, confirmed with a UTR (the reference number of the transfer). Only INR. */
  upi: UpiPaymentInput; virtualAccount?: never; }
  |  { bkash?: never; c2c?: never; card?: never; dcb?: never; easyPaisa?: never; ewallet?: never; havale?: never; jazzCash?: never; nagad?: never; other?: never; redirect?: never; rocket?: never; upi?: never;   /** A virtual account to which the payer transfers. IDR. */
  virtualAccount: VirtualAccountPaymentInput; };

/** The step for which a server-to-server payment waits (spec 3.3). */
export type PaymentState =
  /** A state unknown to this gateway. */
  | 'UNKNOWN'
  /** The payer has to provide a code: confirm with it. */
  | 'WAITING_FOR_CODE'
  /** The payer has to transfer the money: then confirm. */
  | 'WAITING_FOR_CONFIRM'
  /** The provider has to approve. */
  | 'WAITING_FOR_PROVIDER'
  /** The payer has to pay and provide the UTR: confirm with it. */
  | 'WAITING_FOR_UTR';

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
  /** A method that is unknown to this gateway or that the service did not send. */
  | 'OTHER'
  /** Rocket wallet (Bangladesh). */
  | 'ROCKET'
  /** The method "scheme", which has a type and no other fields. */
  | 'SCHEME';

/** Exactly one field: the payout method with its fields, or typeOnly for a method without fields. */
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
  |  { bankTransfer?: never; bkash?: never; card?: never; dcb?: never; easyPaisa?: never; imps?: never; jazzCash?: never; nagad?: never; other?: never; rocket?: never;   /** A payout method that needs only its type. */
  typeOnly: TypeOnlyPayoutMethod; };

/** The status of a payout (spec 3.2). */
export type PayoutStatus =
  /** The funds were transferred. Final. */
  | 'COMPLETED'
  /** The payout could not be completed: see error. Final. */
  | 'FAILED'
  /** Created. */
  | 'PENDING'
  /** Created, and waiting for a confirmation. The caller has nothing to do. */
  | 'PROCESSING'
  /** A status unknown to this gateway: see rawStatus. */
  | 'UNKNOWN';

/** Payment methods that need only their type: the payer pays on the hosted page. */
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

/** Payout methods that need only their type. */
export type TypeOnlyPayoutMethod =
  /** The method "scheme". */
  | 'SCHEME';

/** UPI, server-to-server (spec 2.5): the payer pays to a UPI id and provides the UTR for confirmPayment. At least one field is required. */
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
  /** InvalidInputError: the input violates a rule (see fields); this call created or confirmed nothing. */
  | 'INVALID_INPUT'
  /** OutcomeUnknownError: the call may or may not have been carried out. */
  | 'OUTCOME_UNKNOWN'
  /** RejectedByServiceError: this call created or confirmed nothing. */
  | 'REJECTED_BY_SERVICE'
  /** RequestInProgressError: a call with the same key, or a confirm of the same payment, is in progress. */
  | 'REQUEST_IN_PROGRESS';

/** Confirms a UPI payment (spec 4.5). */
export type UtrConfirmationInput = {
  /** The UTR: the reference number of the transfer, from the payer. */
  utr: string;
};

/** A virtual account that the service creates for this payment (spec 2.5). */
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

export type AttemptFieldsFragment = { idempotencyKey: string, operation: AttemptOperation, channel: string, externalId: string, outcome: AttemptOutcome, startedAt: string, settledAt: string | null, transactionId: string | null, paymentMethod: PaymentMethod | null, payoutMethod: PayoutMethod | null, amount: { currency: string, value: string, received: string | null } };

export type AttemptQueryVariables = Exact<{
  idempotencyKey: string | number;
}>;


export type AttemptQuery = { attempt: { idempotencyKey: string, operation: AttemptOperation, channel: string, externalId: string, outcome: AttemptOutcome, startedAt: string, settledAt: string | null, transactionId: string | null, paymentMethod: PaymentMethod | null, payoutMethod: PayoutMethod | null, payment: (
      { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, nextAction:
        | (
          { pollAfterMs: number }
          & { __typename: 'AwaitProviderAction' }
        )
        | (
          { cardNumber: string | null, recipient: string | null, confirmWith: ConfirmationField }
          & { __typename: 'ConfirmTransferAction' }
        )
        | (
          { virtualAccount: string, bankCode: string | null, pollAfterMs: number }
          & { __typename: 'PayVirtualAccountAction' }
        )
        | (
          { account: string | null, confirmWith: ConfirmationField }
          & { __typename: 'ProvideCodeAction' }
        )
        | (
          { upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
          & { __typename: 'ProvideUtrAction' }
        )
        | (
          { url: string, pollAfterMs: number }
          & { __typename: 'RedirectAction' }
        )
        | (
          { qrCode: string, qrCodeImage: string, pollAfterMs: number }
          & { __typename: 'ScanQrCodeAction' }
        )
       | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null }
      & { __typename: 'BkashPayment' | 'C2cPayment' | 'CardPayment' | 'DcbPayment' | 'EasyPaisaPayment' | 'EwalletPayment' | 'HavalePayment' | 'JazzCashPayment' | 'NagadPayment' | 'OtherPayment' | 'QrisPayment' | 'RocketPayment' | 'SchemePayment' | 'UpiPayment' | 'VirtualAccountPayment' }
    ) | null, payout: (
      { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null }
      & { __typename: 'BankTransferPayout' | 'BkashPayout' | 'CardPayout' | 'DcbPayout' | 'EasyPaisaPayout' | 'ImpsPayout' | 'JazzCashPayout' | 'NagadPayout' | 'OtherPayout' | 'RocketPayout' | 'SchemePayout' }
    ) | null, amount: { currency: string, value: string, received: string | null } } | null };

export type AttemptsQueryVariables = Exact<{
  channel: string;
  outcome?: AttemptOutcome | null | undefined;
  operation?: AttemptOperation | null | undefined;
  externalId?: string | null | undefined;
  startedAfter?: string | null | undefined;
  startedBefore?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type AttemptsQuery = { attempts: { edges: Array<{ cursor: string, node: { idempotencyKey: string, operation: AttemptOperation, channel: string, externalId: string, outcome: AttemptOutcome, startedAt: string, settledAt: string | null, transactionId: string | null, paymentMethod: PaymentMethod | null, payoutMethod: PayoutMethod | null, amount: { currency: string, value: string, received: string | null } } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type PaymentChangeFieldsFragment = (
  { cursor: string, recordedAt: string, channel: string, transactionId: string, externalId: string | null, method: PaymentMethod, previousStatus: PaymentStatus | null, status: PaymentStatus, state: PaymentState | null, amount: { currency: string, value: string, received: string | null } | null }
  & { __typename: 'PaymentChange' }
);

export type PayoutChangeFieldsFragment = (
  { cursor: string, recordedAt: string, channel: string, transactionId: string, externalId: string | null, payoutMethod: PayoutMethod, previousPayoutStatus: PayoutStatus | null, payoutStatus: PayoutStatus, amount: { currency: string, value: string, received: string | null } | null }
  & { __typename: 'PayoutChange' }
);

export type ChangesQueryVariables = Exact<{
  channel: string;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type ChangesQuery = { changes: { endCursor: string, hasMore: boolean, changes: Array<
      | (
        { cursor: string, recordedAt: string, channel: string, transactionId: string, externalId: string | null, method: PaymentMethod, previousStatus: PaymentStatus | null, status: PaymentStatus, state: PaymentState | null, amount: { currency: string, value: string, received: string | null } | null }
        & { __typename: 'PaymentChange' }
      )
      | (
        { cursor: string, recordedAt: string, channel: string, transactionId: string, externalId: string | null, payoutMethod: PayoutMethod, previousPayoutStatus: PayoutStatus | null, payoutStatus: PayoutStatus, amount: { currency: string, value: string, received: string | null } | null }
        & { __typename: 'PayoutChange' }
      )
    > } };

export type WatchChangesSubscriptionVariables = Exact<{
  channel: string;
  after?: string | null | undefined;
}>;


export type WatchChangesSubscription = { changes:
    | (
      { cursor: string, recordedAt: string, channel: string, transactionId: string, externalId: string | null, method: PaymentMethod, previousStatus: PaymentStatus | null, status: PaymentStatus, state: PaymentState | null, amount: { currency: string, value: string, received: string | null } | null }
      & { __typename: 'PaymentChange' }
    )
    | (
      { cursor: string, recordedAt: string, channel: string, transactionId: string, externalId: string | null, payoutMethod: PayoutMethod, previousPayoutStatus: PayoutStatus | null, payoutStatus: PayoutStatus, amount: { currency: string, value: string, received: string | null } | null }
      & { __typename: 'PayoutChange' }
    )
   };

export type InvalidInputFieldsFragment = { code: UserErrorCode, message: string, fields: Array<{ path: Array<string>, rule: string, message: string }> };

export type RejectedByServiceFieldsFragment = { code: UserErrorCode, message: string, httpStatus: number };

export type IdempotencyConflictFieldsFragment = { code: UserErrorCode, message: string };

export type RequestInProgressFieldsFragment = { code: UserErrorCode, message: string, retryAfterMs: number };

export type OutcomeUnknownFieldsFragment = { code: UserErrorCode, message: string, idempotencyKey: string | null, externalId: string | null, transactionId: string | null };

export type RedirectActionFieldsFragment = { url: string, pollAfterMs: number };

export type ProvideUtrActionFieldsFragment = { upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField };

export type ProvideCodeActionFieldsFragment = { account: string | null, confirmWith: ConfirmationField };

export type ConfirmTransferActionFieldsFragment = { cardNumber: string | null, recipient: string | null, confirmWith: ConfirmationField };

export type PayVirtualAccountActionFieldsFragment = { virtualAccount: string, bankCode: string | null, pollAfterMs: number };

export type ScanQrCodeActionFieldsFragment = { qrCode: string, qrCodeImage: string, pollAfterMs: number };

export type AwaitProviderActionFieldsFragment = { pollAfterMs: number };

type NextActionFields_AwaitProviderAction_Fragment = (
  { pollAfterMs: number }
  & { __typename: 'AwaitProviderAction' }
);

type NextActionFields_ConfirmTransferAction_Fragment = (
  { cardNumber: string | null, recipient: string | null, confirmWith: ConfirmationField }
  & { __typename: 'ConfirmTransferAction' }
);

type NextActionFields_PayVirtualAccountAction_Fragment = (
  { virtualAccount: string, bankCode: string | null, pollAfterMs: number }
  & { __typename: 'PayVirtualAccountAction' }
);

type NextActionFields_ProvideCodeAction_Fragment = (
  { account: string | null, confirmWith: ConfirmationField }
  & { __typename: 'ProvideCodeAction' }
);

type NextActionFields_ProvideUtrAction_Fragment = (
  { upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
  & { __typename: 'ProvideUtrAction' }
);

type NextActionFields_RedirectAction_Fragment = (
  { url: string, pollAfterMs: number }
  & { __typename: 'RedirectAction' }
);

type NextActionFields_ScanQrCodeAction_Fragment = (
  { qrCode: string, qrCodeImage: string, pollAfterMs: number }
  & { __typename: 'ScanQrCodeAction' }
);

export type NextActionFieldsFragment =
  | NextActionFields_AwaitProviderAction_Fragment
  | NextActionFields_ConfirmTransferAction_Fragment
  | NextActionFields_PayVirtualAccountAction_Fragment
  | NextActionFields_ProvideCodeAction_Fragment
  | NextActionFields_ProvideUtrAction_Fragment
  | NextActionFields_RedirectAction_Fragment
  | NextActionFields_ScanQrCodeAction_Fragment
;

export type CreatePaymentMutationVariables = Exact<{
  input: CreatePaymentInput;
}>;


export type CreatePaymentMutation = { createPayment:
    | (
      { code: UserErrorCode, message: string }
      & { __typename: 'IdempotencyConflictError' }
    )
    | (
      { code: UserErrorCode, message: string, fields: Array<{ path: Array<string>, rule: string, message: string }> }
      & { __typename: 'InvalidInputError' }
    )
    | (
      { code: UserErrorCode, message: string, idempotencyKey: string | null, externalId: string | null, transactionId: string | null }
      & { __typename: 'OutcomeUnknownError' }
    )
    | (
      { replayed: boolean, payment: (
        { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, nextAction:
          | (
            { pollAfterMs: number }
            & { __typename: 'AwaitProviderAction' }
          )
          | (
            { cardNumber: string | null, recipient: string | null, confirmWith: ConfirmationField }
            & { __typename: 'ConfirmTransferAction' }
          )
          | (
            { virtualAccount: string, bankCode: string | null, pollAfterMs: number }
            & { __typename: 'PayVirtualAccountAction' }
          )
          | (
            { account: string | null, confirmWith: ConfirmationField }
            & { __typename: 'ProvideCodeAction' }
          )
          | (
            { upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            & { __typename: 'ProvideUtrAction' }
          )
          | (
            { url: string, pollAfterMs: number }
            & { __typename: 'RedirectAction' }
          )
          | (
            { qrCode: string, qrCodeImage: string, pollAfterMs: number }
            & { __typename: 'ScanQrCodeAction' }
          )
         | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null }
        & { __typename: 'BkashPayment' | 'C2cPayment' | 'CardPayment' | 'DcbPayment' | 'EasyPaisaPayment' | 'EwalletPayment' | 'HavalePayment' | 'JazzCashPayment' | 'NagadPayment' | 'OtherPayment' | 'QrisPayment' | 'RocketPayment' | 'SchemePayment' | 'UpiPayment' | 'VirtualAccountPayment' }
      ) }
      & { __typename: 'PaymentSuccess' }
    )
    | (
      { code: UserErrorCode, message: string, httpStatus: number }
      & { __typename: 'RejectedByServiceError' }
    )
    | (
      { code: UserErrorCode, message: string, retryAfterMs: number }
      & { __typename: 'RequestInProgressError' }
    )
   };

export type ConfirmPaymentMutationVariables = Exact<{
  input: ConfirmPaymentInput;
}>;


export type ConfirmPaymentMutation = { confirmPayment:
    | (
      { code: UserErrorCode, message: string, fields: Array<{ path: Array<string>, rule: string, message: string }> }
      & { __typename: 'InvalidInputError' }
    )
    | (
      { code: UserErrorCode, message: string, idempotencyKey: string | null, externalId: string | null, transactionId: string | null }
      & { __typename: 'OutcomeUnknownError' }
    )
    | (
      { replayed: boolean, payment: (
        { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, nextAction:
          | (
            { pollAfterMs: number }
            & { __typename: 'AwaitProviderAction' }
          )
          | (
            { cardNumber: string | null, recipient: string | null, confirmWith: ConfirmationField }
            & { __typename: 'ConfirmTransferAction' }
          )
          | (
            { virtualAccount: string, bankCode: string | null, pollAfterMs: number }
            & { __typename: 'PayVirtualAccountAction' }
          )
          | (
            { account: string | null, confirmWith: ConfirmationField }
            & { __typename: 'ProvideCodeAction' }
          )
          | (
            { upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
            & { __typename: 'ProvideUtrAction' }
          )
          | (
            { url: string, pollAfterMs: number }
            & { __typename: 'RedirectAction' }
          )
          | (
            { qrCode: string, qrCodeImage: string, pollAfterMs: number }
            & { __typename: 'ScanQrCodeAction' }
          )
         | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null }
        & { __typename: 'BkashPayment' | 'C2cPayment' | 'CardPayment' | 'DcbPayment' | 'EasyPaisaPayment' | 'EwalletPayment' | 'HavalePayment' | 'JazzCashPayment' | 'NagadPayment' | 'OtherPayment' | 'QrisPayment' | 'RocketPayment' | 'SchemePayment' | 'UpiPayment' | 'VirtualAccountPayment' }
      ) }
      & { __typename: 'PaymentSuccess' }
    )
    | (
      { code: UserErrorCode, message: string, httpStatus: number }
      & { __typename: 'RejectedByServiceError' }
    )
    | (
      { code: UserErrorCode, message: string, retryAfterMs: number }
      & { __typename: 'RequestInProgressError' }
    )
   };

export type PaymentQueryVariables = Exact<{
  channel: string;
  transactionId: string;
}>;


export type PaymentQuery = { payment: (
    { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, nextAction:
      | (
        { pollAfterMs: number }
        & { __typename: 'AwaitProviderAction' }
      )
      | (
        { cardNumber: string | null, recipient: string | null, confirmWith: ConfirmationField }
        & { __typename: 'ConfirmTransferAction' }
      )
      | (
        { virtualAccount: string, bankCode: string | null, pollAfterMs: number }
        & { __typename: 'PayVirtualAccountAction' }
      )
      | (
        { account: string | null, confirmWith: ConfirmationField }
        & { __typename: 'ProvideCodeAction' }
      )
      | (
        { upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        & { __typename: 'ProvideUtrAction' }
      )
      | (
        { url: string, pollAfterMs: number }
        & { __typename: 'RedirectAction' }
      )
      | (
        { qrCode: string, qrCodeImage: string, pollAfterMs: number }
        & { __typename: 'ScanQrCodeAction' }
      )
     | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null }
    & { __typename: 'BkashPayment' | 'C2cPayment' | 'CardPayment' | 'DcbPayment' | 'EasyPaisaPayment' | 'EwalletPayment' | 'HavalePayment' | 'JazzCashPayment' | 'NagadPayment' | 'OtherPayment' | 'QrisPayment' | 'RocketPayment' | 'SchemePayment' | 'UpiPayment' | 'VirtualAccountPayment' }
  ) | null };

export type PaymentByExternalIdQueryVariables = Exact<{
  channel: string;
  externalId: string;
}>;


export type PaymentByExternalIdQuery = { payment: (
    { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, nextAction:
      | (
        { pollAfterMs: number }
        & { __typename: 'AwaitProviderAction' }
      )
      | (
        { cardNumber: string | null, recipient: string | null, confirmWith: ConfirmationField }
        & { __typename: 'ConfirmTransferAction' }
      )
      | (
        { virtualAccount: string, bankCode: string | null, pollAfterMs: number }
        & { __typename: 'PayVirtualAccountAction' }
      )
      | (
        { account: string | null, confirmWith: ConfirmationField }
        & { __typename: 'ProvideCodeAction' }
      )
      | (
        { upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        & { __typename: 'ProvideUtrAction' }
      )
      | (
        { url: string, pollAfterMs: number }
        & { __typename: 'RedirectAction' }
      )
      | (
        { qrCode: string, qrCodeImage: string, pollAfterMs: number }
        & { __typename: 'ScanQrCodeAction' }
      )
     | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null }
    & { __typename: 'BkashPayment' | 'C2cPayment' | 'CardPayment' | 'DcbPayment' | 'EasyPaisaPayment' | 'EwalletPayment' | 'HavalePayment' | 'JazzCashPayment' | 'NagadPayment' | 'OtherPayment' | 'QrisPayment' | 'RocketPayment' | 'SchemePayment' | 'UpiPayment' | 'VirtualAccountPayment' }
  ) | null };

export type PaymentsQueryVariables = Exact<{
  channel: string;
  transactionIds: Array<string> | string;
}>;


export type PaymentsQuery = { payments: Array<(
    { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, nextAction:
      | (
        { pollAfterMs: number }
        & { __typename: 'AwaitProviderAction' }
      )
      | (
        { cardNumber: string | null, recipient: string | null, confirmWith: ConfirmationField }
        & { __typename: 'ConfirmTransferAction' }
      )
      | (
        { virtualAccount: string, bankCode: string | null, pollAfterMs: number }
        & { __typename: 'PayVirtualAccountAction' }
      )
      | (
        { account: string | null, confirmWith: ConfirmationField }
        & { __typename: 'ProvideCodeAction' }
      )
      | (
        { upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        & { __typename: 'ProvideUtrAction' }
      )
      | (
        { url: string, pollAfterMs: number }
        & { __typename: 'RedirectAction' }
      )
      | (
        { qrCode: string, qrCodeImage: string, pollAfterMs: number }
        & { __typename: 'ScanQrCodeAction' }
      )
     | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null }
    & { __typename: 'BkashPayment' | 'C2cPayment' | 'CardPayment' | 'DcbPayment' | 'EasyPaisaPayment' | 'EwalletPayment' | 'HavalePayment' | 'JazzCashPayment' | 'NagadPayment' | 'OtherPayment' | 'QrisPayment' | 'RocketPayment' | 'SchemePayment' | 'UpiPayment' | 'VirtualAccountPayment' }
  ) | null> };

export type WatchPaymentSubscriptionVariables = Exact<{
  channel: string;
  transactionId: string;
}>;


export type WatchPaymentSubscription = { paymentUpdated: (
    { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, nextAction:
      | (
        { pollAfterMs: number }
        & { __typename: 'AwaitProviderAction' }
      )
      | (
        { cardNumber: string | null, recipient: string | null, confirmWith: ConfirmationField }
        & { __typename: 'ConfirmTransferAction' }
      )
      | (
        { virtualAccount: string, bankCode: string | null, pollAfterMs: number }
        & { __typename: 'PayVirtualAccountAction' }
      )
      | (
        { account: string | null, confirmWith: ConfirmationField }
        & { __typename: 'ProvideCodeAction' }
      )
      | (
        { upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
        & { __typename: 'ProvideUtrAction' }
      )
      | (
        { url: string, pollAfterMs: number }
        & { __typename: 'RedirectAction' }
      )
      | (
        { qrCode: string, qrCodeImage: string, pollAfterMs: number }
        & { __typename: 'ScanQrCodeAction' }
      )
     | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null }
    & { __typename: 'BkashPayment' | 'C2cPayment' | 'CardPayment' | 'DcbPayment' | 'EasyPaisaPayment' | 'EwalletPayment' | 'HavalePayment' | 'JazzCashPayment' | 'NagadPayment' | 'OtherPayment' | 'QrisPayment' | 'RocketPayment' | 'SchemePayment' | 'UpiPayment' | 'VirtualAccountPayment' }
  ) };

export type CreatePayoutMutationVariables = Exact<{
  input: CreatePayoutInput;
}>;


export type CreatePayoutMutation = { createPayout:
    | (
      { code: UserErrorCode, message: string }
      & { __typename: 'IdempotencyConflictError' }
    )
    | (
      { code: UserErrorCode, message: string, fields: Array<{ path: Array<string>, rule: string, message: string }> }
      & { __typename: 'InvalidInputError' }
    )
    | (
      { code: UserErrorCode, message: string, idempotencyKey: string | null, externalId: string | null, transactionId: string | null }
      & { __typename: 'OutcomeUnknownError' }
    )
    | (
      { replayed: boolean, payout: (
        { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null }
        & { __typename: 'BankTransferPayout' | 'BkashPayout' | 'CardPayout' | 'DcbPayout' | 'EasyPaisaPayout' | 'ImpsPayout' | 'JazzCashPayout' | 'NagadPayout' | 'OtherPayout' | 'RocketPayout' | 'SchemePayout' }
      ) }
      & { __typename: 'PayoutSuccess' }
    )
    | (
      { code: UserErrorCode, message: string, httpStatus: number }
      & { __typename: 'RejectedByServiceError' }
    )
    | (
      { code: UserErrorCode, message: string, retryAfterMs: number }
      & { __typename: 'RequestInProgressError' }
    )
   };

export type PayoutQueryVariables = Exact<{
  channel: string;
  transactionId: string;
}>;


export type PayoutQuery = { payout: (
    { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null }
    & { __typename: 'BankTransferPayout' | 'BkashPayout' | 'CardPayout' | 'DcbPayout' | 'EasyPaisaPayout' | 'ImpsPayout' | 'JazzCashPayout' | 'NagadPayout' | 'OtherPayout' | 'RocketPayout' | 'SchemePayout' }
  ) | null };

export type PayoutByExternalIdQueryVariables = Exact<{
  channel: string;
  externalId: string;
}>;


export type PayoutByExternalIdQuery = { payout: (
    { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null }
    & { __typename: 'BankTransferPayout' | 'BkashPayout' | 'CardPayout' | 'DcbPayout' | 'EasyPaisaPayout' | 'ImpsPayout' | 'JazzCashPayout' | 'NagadPayout' | 'OtherPayout' | 'RocketPayout' | 'SchemePayout' }
  ) | null };

export type PayoutsQueryVariables = Exact<{
  channel: string;
  transactionIds: Array<string> | string;
}>;


export type PayoutsQuery = { payouts: Array<(
    { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null }
    & { __typename: 'BankTransferPayout' | 'BkashPayout' | 'CardPayout' | 'DcbPayout' | 'EasyPaisaPayout' | 'ImpsPayout' | 'JazzCashPayout' | 'NagadPayout' | 'OtherPayout' | 'RocketPayout' | 'SchemePayout' }
  ) | null> };

export type WatchPayoutSubscriptionVariables = Exact<{
  channel: string;
  transactionId: string;
}>;


export type WatchPayoutSubscription = { payoutUpdated: (
    { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null }
    & { __typename: 'BankTransferPayout' | 'BkashPayout' | 'CardPayout' | 'DcbPayout' | 'EasyPaisaPayout' | 'ImpsPayout' | 'JazzCashPayout' | 'NagadPayout' | 'OtherPayout' | 'RocketPayout' | 'SchemePayout' }
  ) };

export type AmountFieldsFragment = { currency: string, value: string, received: string | null };

export type DeclineFieldsFragment = { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null };

export type PaymentFieldsFragment = (
  { id: string, transactionId: string, channel: string, externalId: string | null, method: PaymentMethod, status: PaymentStatus, rawStatus: string, createDate: string | null, amount: { currency: string, value: string, received: string | null } | null, nextAction:
    | (
      { pollAfterMs: number }
      & { __typename: 'AwaitProviderAction' }
    )
    | (
      { cardNumber: string | null, recipient: string | null, confirmWith: ConfirmationField }
      & { __typename: 'ConfirmTransferAction' }
    )
    | (
      { virtualAccount: string, bankCode: string | null, pollAfterMs: number }
      & { __typename: 'PayVirtualAccountAction' }
    )
    | (
      { account: string | null, confirmWith: ConfirmationField }
      & { __typename: 'ProvideCodeAction' }
    )
    | (
      { upiId: string | null, upiLink: string | null, confirmWith: ConfirmationField }
      & { __typename: 'ProvideUtrAction' }
    )
    | (
      { url: string, pollAfterMs: number }
      & { __typename: 'RedirectAction' }
    )
    | (
      { qrCode: string, qrCodeImage: string, pollAfterMs: number }
      & { __typename: 'ScanQrCodeAction' }
    )
   | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null }
  & { __typename: 'BkashPayment' | 'C2cPayment' | 'CardPayment' | 'DcbPayment' | 'EasyPaisaPayment' | 'EwalletPayment' | 'HavalePayment' | 'JazzCashPayment' | 'NagadPayment' | 'OtherPayment' | 'QrisPayment' | 'RocketPayment' | 'SchemePayment' | 'UpiPayment' | 'VirtualAccountPayment' }
);

export type PayoutFieldsFragment = (
  { id: string, transactionId: string, channel: string, externalId: string | null, method: PayoutMethod, status: PayoutStatus, rawStatus: string, amount: { currency: string, value: string, received: string | null } | null, error: { code: DeclineCode, rawCode: string, message: string, reason: DeclineReason | null } | null }
  & { __typename: 'BankTransferPayout' | 'BkashPayout' | 'CardPayout' | 'DcbPayout' | 'EasyPaisaPayout' | 'ImpsPayout' | 'JazzCashPayout' | 'NagadPayout' | 'OtherPayout' | 'RocketPayout' | 'SchemePayout' }
);

export declare const AttemptFieldsDocument: TypedDocumentNode<AttemptFieldsFragment, unknown>;
export declare const AttemptDocument: TypedDocumentNode<AttemptQuery, AttemptQueryVariables>;
export declare const AttemptsDocument: TypedDocumentNode<AttemptsQuery, AttemptsQueryVariables>;
export declare const PaymentChangeFieldsDocument: TypedDocumentNode<PaymentChangeFieldsFragment, unknown>;
export declare const PayoutChangeFieldsDocument: TypedDocumentNode<PayoutChangeFieldsFragment, unknown>;
export declare const ChangesDocument: TypedDocumentNode<ChangesQuery, ChangesQueryVariables>;
export declare const WatchChangesDocument: TypedDocumentNode<WatchChangesSubscription, WatchChangesSubscriptionVariables>;
export declare const InvalidInputFieldsDocument: TypedDocumentNode<InvalidInputFieldsFragment, unknown>;
export declare const RejectedByServiceFieldsDocument: TypedDocumentNode<RejectedByServiceFieldsFragment, unknown>;
export declare const IdempotencyConflictFieldsDocument: TypedDocumentNode<IdempotencyConflictFieldsFragment, unknown>;
export declare const RequestInProgressFieldsDocument: TypedDocumentNode<RequestInProgressFieldsFragment, unknown>;
export declare const OutcomeUnknownFieldsDocument: TypedDocumentNode<OutcomeUnknownFieldsFragment, unknown>;
export declare const RedirectActionFieldsDocument: TypedDocumentNode<RedirectActionFieldsFragment, unknown>;
export declare const ProvideUtrActionFieldsDocument: TypedDocumentNode<ProvideUtrActionFieldsFragment, unknown>;
export declare const ProvideCodeActionFieldsDocument: TypedDocumentNode<ProvideCodeActionFieldsFragment, unknown>;
export declare const ConfirmTransferActionFieldsDocument: TypedDocumentNode<ConfirmTransferActionFieldsFragment, unknown>;
export declare const PayVirtualAccountActionFieldsDocument: TypedDocumentNode<PayVirtualAccountActionFieldsFragment, unknown>;
export declare const ScanQrCodeActionFieldsDocument: TypedDocumentNode<ScanQrCodeActionFieldsFragment, unknown>;
export declare const AwaitProviderActionFieldsDocument: TypedDocumentNode<AwaitProviderActionFieldsFragment, unknown>;
export declare const NextActionFieldsDocument: TypedDocumentNode<NextActionFieldsFragment, unknown>;
export declare const CreatePaymentDocument: TypedDocumentNode<CreatePaymentMutation, CreatePaymentMutationVariables>;
export declare const ConfirmPaymentDocument: TypedDocumentNode<ConfirmPaymentMutation, ConfirmPaymentMutationVariables>;
export declare const PaymentDocument: TypedDocumentNode<PaymentQuery, PaymentQueryVariables>;
export declare const PaymentByExternalIdDocument: TypedDocumentNode<PaymentByExternalIdQuery, PaymentByExternalIdQueryVariables>;
export declare const PaymentsDocument: TypedDocumentNode<PaymentsQuery, PaymentsQueryVariables>;
export declare const WatchPaymentDocument: TypedDocumentNode<WatchPaymentSubscription, WatchPaymentSubscriptionVariables>;
export declare const CreatePayoutDocument: TypedDocumentNode<CreatePayoutMutation, CreatePayoutMutationVariables>;
export declare const PayoutDocument: TypedDocumentNode<PayoutQuery, PayoutQueryVariables>;
export declare const PayoutByExternalIdDocument: TypedDocumentNode<PayoutByExternalIdQuery, PayoutByExternalIdQueryVariables>;
export declare const PayoutsDocument: TypedDocumentNode<PayoutsQuery, PayoutsQueryVariables>;
export declare const WatchPayoutDocument: TypedDocumentNode<WatchPayoutSubscription, WatchPayoutSubscriptionVariables>;
export declare const AmountFieldsDocument: TypedDocumentNode<AmountFieldsFragment, unknown>;
export declare const DeclineFieldsDocument: TypedDocumentNode<DeclineFieldsFragment, unknown>;
export declare const PaymentFieldsDocument: TypedDocumentNode<PaymentFieldsFragment, unknown>;
export declare const PayoutFieldsDocument: TypedDocumentNode<PayoutFieldsFragment, unknown>;
/** Object types of each union and interface, for `new InMemoryCache({ possibleTypes })`. */
export declare const possibleTypes: Record<string, string[]>;
/** All values of `extensions.code` in errors of the gateway (docs/results.md). */
export type GatewayErrorCode = 'BAD_USER_INPUT' | 'GRAPHQL_PARSE_FAILED' | 'GRAPHQL_VALIDATION_FAILED' | 'OPERATION_RESOLUTION_FAILURE' | 'BAD_REQUEST' | 'OPERATION_TOO_LARGE' | 'PERSISTED_QUERY_NOT_FOUND' | 'PERSISTED_OPERATION_REQUIRED' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'RATE_LIMITED' | 'NOT_FOUND' | 'CURSOR_EXPIRED' | 'SERVICE_UNAVAILABLE' | 'SERVICE_TIMEOUT' | 'SERVICE_AUTH_FAILED' | 'SERVICE_RESPONSE_INVALID' | 'INTERNAL_SERVER_ERROR';
/**
 * All values of `rule` in the `fields` of an InvalidInputError, or of a GraphQL error with the code BAD_USER_INPUT or
 * GRAPHQL_VALIDATION_FAILED (docs/results.md).
 */
export type InputRule = 'notBlank' | 'printable' | 'maxLength' | 'email' | 'e164' | 'iso3166Alpha2' | 'date' | 'past' | 'iban' | 'cardNumber' | 'luhn' | 'cvc' | 'expiryMonth' | 'expiryYear' | 'notExpired' | 'maskedPan' | 'addressOrStructuredFields' | 'notEmpty' | 'iso4217' | 'currencyOfMethod' | 'methodType' | 'knownMethod' | 'noType' | 'size' | 'noCardNumber' | 'noSecret' | 'https' | 'noCredentials' | 'plainUrl' | 'publicAddress' | 'allowedHost' | 'unused' | 'paymentOnChannel' | 'methodOfPayment' | 'required' | 'unknownField' | 'oneOf' | 'object' | 'enum' | 'string' | 'id' | 'int' | 'boolean' | 'uuid' | 'decimal' | 'decimalPlaces' | 'positive' | 'currencyCode' | 'timestamp' | 'url' | 'jsonObject' | 'exactNumber' | 'variableOnly' | 'atLeastOne' | 'maxItems' | 'range' | 'cursor' | 'nodeId' | 'entityType';
/** The `extensions` of every GraphQL error of the gateway. */
export interface GatewayErrorExtensions {
    /** Reason of the error, for programs (docs/results.md). */
    code: GatewayErrorCode;
    /** Whether the same request may succeed later. Repeat a create with the same idempotency key. */
    retryable: boolean;
    /** Identifies the request in the log of the gateway. */
    requestId: string;
    /** How long to wait before repeating the request, in ms. Absent if `retryable` is false or the time is unknown. */
    retryAfterMs?: number;
    /**
     * Path of each invalid value, and the rule that the value violates. Absent if the error is not about invalid values.
     * A path starts with the name of the argument, but a leading `input` is omitted: the path of `input.amount.value` is
     * ["amount", "value"]. If the whole input is invalid, the path is ["input"].
     */
    fields?: readonly {
        readonly path: readonly string[];
        readonly rule: string;
    }[];
    /** The oldest valid cursor. All changes after this cursor are still stored. Present only with CURSOR_EXPIRED. */
    oldestCursor?: string;
}
/** Connection settings for requests to a gateway. */
interface GatewayConnection {
    /** URL of the GraphQL endpoint, for example https://gateway.example/graphql. */
    url: string;
    /**
     * Headers such as `authorization`, or a function that returns the headers for each request. If the function throws,
     * the request is not retried.
     */
    headers?: HeaderValues | (() => HeaderValues | Promise<HeaderValues>);
    /** Signal that aborts the requests. */
    signal?: AbortSignal;
    /**
     * Maximum time in milliseconds of each wait: for the headers of a response, for the body of a page of changes, and
     * for the next part of the event stream. By default 60,000. Must be longer than the gateway's setting
     * SUBSCRIPTION_PING_SECONDS, because without changes the event stream contains only pings.
     */
    idleTimeoutMs?: number;
    /** Function that sends the requests; by default the global `fetch`. */
    fetch?: typeof fetch;
}
type HeaderValues = Readonly<Record<string, string>>;
/** A GraphQL error of the gateway, in the same form for every client library. */
export interface GatewayError {
    /** The kind of error. A newer gateway may return codes that this type does not list. */
    code: GatewayErrorCode;
    /** Description for developers and logs. Never contains a card number, security code or credential. */
    message: string;
    /** Whether the same request may succeed later. A create must be repeated with the same idempotency key. */
    retryable: boolean;
    /** Identifies the request in the log of the gateway; null if the error has no request id. */
    requestId: string | null;
    /** Minimum time before a repetition of the request, in milliseconds; null if unknown. */
    retryAfterMs: number | null;
    /**
     * Path and violated rule of each invalid value; empty if the error names no values. A path begins with the name of an
     * argument, but the path of a value within the argument `input` begins with the name of a field of `input`.
     */
    fields: readonly {
        readonly path: readonly string[];
        readonly rule: string;
    }[];
    /** Oldest valid cursor of the changes, for the code CURSOR_EXPIRED; null for other codes. */
    oldestCursor: string | null;
    /** Path of the field that failed, for example ["payments", 3]; null for an error of the whole request. */
    path: readonly (string | number)[] | null;
}
/**
 * Finds the gateway's first GraphQL error in a value that a client library throws or returns: an error of Apollo
 * Client 4 or urql, an array of errors (graphql-ws), a GraphQL response with `errors`, or one GraphQL error. Returns
 * null if there is no such error, for example after a network failure. Even then, the gateway may have executed a
 * mutation.
 */
export declare function gatewayError(error: unknown): GatewayError | null;
/**
 * Whether the gateway's error says that the same request may succeed later. If so, wait at least `retryAfterMs`, then
 * repeat the request unchanged. False if gatewayError() returns null.
 */
export declare const isRetryable: (error: unknown) => boolean;
/**
 * Returns the field `confirmation` for the input of `confirmPayment`. `action`: the payment's next action. `value`: the
 * UTR for a ProvideUtrAction, or the code for a ProvideCodeAction. For a ConfirmTransferAction, `value` is ignored.
 * @throws TypeError if a needed `value` is missing, or if this package version does not know `action.confirmWith`
 */
export declare function confirmationFor(action: {
    readonly confirmWith: ConfirmationField;
}, value?: string): ConfirmationInput;
/**
 * Formats an amount for a locale, for example "€25.00" or "25,00 €". Does not round, and shows at least two decimals in
 * every currency. A currency that is no three-letter code, for example USDT, appears as its code after the number. A
 * `value` that is no decimal number, or that has more than 20 decimals, appears unchanged before the currency code. To
 * format the received amount of a MISPAID payment, call `formatMoney({ ...amount, value: amount.received })`.
 * @param locale locale for Intl.NumberFormat, for example "de-DE"; by default the runtime's locale
 * @throws {RangeError} if Intl.NumberFormat rejects the locale, for example "en_US"
 */
export declare function formatMoney(amount: {
    readonly value: string;
    readonly currency: string;
}, locale?: string | readonly string[]): string;
interface ExternalIdPolicy {
    fields: {
        externalId: {
            merge(existing: string | null | undefined, incoming: string | null): string | null;
        };
    };
}
/**
 * Type policies for Apollo Client: `new InMemoryCache({ possibleTypes, typePolicies })`. With them, the cache keeps a
 * known `externalId` when a later response has null, for example after a lookup by transaction id. They work only
 * together with `possibleTypes`, because they are policies of interfaces.
 */
export declare const typePolicies: Record<'PaymentResource' | 'PayoutResource', ExternalIdPolicy>;
/** Thrown if the gateway no longer has all changes after the cursor. Changes are kept for a limited time. */
export declare class CursorExpired extends Error {
    readonly oldestCursor: string;
    /** @param oldestCursor oldest valid cursor: the gateway still has every change after this cursor */
    constructor(message: string, oldestCursor: string);
}
/** Thrown for an error that a retry would not remove, such as UNAUTHENTICATED or a wrong URL. */
export declare class RequestRefused extends Error {
    readonly errors: readonly unknown[];
    /** @param errors GraphQL errors of the response, as input for gatewayError(); empty if there are none */
    constructor(message: string, errors: readonly unknown[]);
}
/** A new status or state of a payment, recorded when the gateway first observed it. */
export type PaymentChange = PaymentChangeFieldsFragment;
/** A new status of a payout, recorded when the gateway first observed it. */
export interface PayoutChange {
    __typename: 'PayoutChange';
    /** Position of the change. To continue after this change, pass it to changes() as `after`. */
    cursor: string;
    /** Time when the gateway recorded the change (RFC 3339). */
    recordedAt: string;
    channel: string;
    transactionId: string;
    externalId: string | null;
    method: PayoutMethod;
    /** Status before the change; null in the first change of a payout. */
    previousStatus: PayoutStatus | null;
    status: PayoutStatus;
    amount: AmountFieldsFragment | null;
}
/** A change of a payment or payout. */
export type Change = PaymentChange | PayoutChange;
export interface ChangesOptions extends GatewayConnection {
    /** Id (UUID) of the merchant channel. */
    channel: string;
    /** Cursor of the last processed change. Default: start with the oldest change that the gateway still has. */
    after?: string | null;
    /** Maximum number of changes per page, 1 to 500; by default 100. */
    pageSize?: number;
    /**
     * Returns the delay before a retry in milliseconds. `failures`: number of earlier failures in a row, 0 for the first
     * retry. If the gateway's error has a longer `retryAfterMs`, that is the delay instead. Default: exponential backoff
     * with jitter, 0.25 to 0.5 s for the first retry, at most 15 to 30 s.
     */
    retryWaitMs?: (failures: number) => number;
    /** Called before the delay of each retry, with the cause of the failure and the delay in milliseconds. */
    onRetry?: (cause: unknown, waitMs: number) => void;
}
/**
 * Yields every change after `options.after`, oldest first, then each new change. Skips types of changes that this
 * version of the client package does not know. Reads pages, then subscribes by server-sent events. Reads more only when
 * the consumer requests the next change. After a retryable failure, continues after the change that it yielded last.
 * Ends only by an error.
 * @throws CursorExpired if the gateway has deleted changes after the cursor
 * @throws RequestRefused for an error that is not retryable, such as UNAUTHENTICATED
 * @throws `signal.reason` when `signal` is aborted
 */
export declare function changes(options: ChangesOptions): AsyncGenerator<Change, never, undefined>;
export {};