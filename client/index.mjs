// Made by `npm run codegen` from client/operations and client/src; do not edit.
const AttemptFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"AttemptFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Attempt"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"idempotencyKey"}},{"kind":"Field","name":{"kind":"Name","value":"operation"}},{"kind":"Field","name":{"kind":"Name","value":"channel"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","name":{"kind":"Name","value":"outcome"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"settledAt"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}},{"kind":"Field","name":{"kind":"Name","value":"amount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AmountFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"paymentMethod"}},{"kind":"Field","name":{"kind":"Name","value":"payoutMethod"}}]}};
const PaymentChangeFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"PaymentChangeFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PaymentChange"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"recordedAt"}},{"kind":"Field","name":{"kind":"Name","value":"channel"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","name":{"kind":"Name","value":"method"}},{"kind":"Field","name":{"kind":"Name","value":"previousStatus"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"amount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AmountFields"}}]}}]}};
const PayoutChangeFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"PayoutChangeFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PayoutChange"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"recordedAt"}},{"kind":"Field","name":{"kind":"Name","value":"channel"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","alias":{"kind":"Name","value":"payoutMethod"},"name":{"kind":"Name","value":"method"}},{"kind":"Field","alias":{"kind":"Name","value":"previousPayoutStatus"},"name":{"kind":"Name","value":"previousStatus"}},{"kind":"Field","alias":{"kind":"Name","value":"payoutStatus"},"name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"amount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AmountFields"}}]}}]}};
const InvalidInputFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"InvalidInputFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"InvalidInputError"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"fields"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"path"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}};
const RejectedByServiceFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"RejectedByServiceFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"RejectedByServiceError"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"httpStatus"}}]}};
const IdempotencyConflictFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"IdempotencyConflictFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"IdempotencyConflictError"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}};
const RequestInProgressFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"RequestInProgressFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"RequestInProgressError"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterMs"}}]}};
const OutcomeUnknownFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"OutcomeUnknownFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"OutcomeUnknownError"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"idempotencyKey"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}}]}};
const RedirectActionFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"RedirectActionFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"RedirectAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"url"}},{"kind":"Field","name":{"kind":"Name","value":"pollAfterMs"}}]}};
const ProvideUtrActionFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"ProvideUtrActionFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ProvideUtrAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"upiId"}},{"kind":"Field","name":{"kind":"Name","value":"upiLink"}},{"kind":"Field","name":{"kind":"Name","value":"confirmWith"}}]}};
const ProvideCodeActionFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"ProvideCodeActionFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ProvideCodeAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"account"}},{"kind":"Field","name":{"kind":"Name","value":"confirmWith"}}]}};
const ConfirmTransferActionFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"ConfirmTransferActionFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ConfirmTransferAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cardNumber"}},{"kind":"Field","name":{"kind":"Name","value":"recipient"}},{"kind":"Field","name":{"kind":"Name","value":"confirmWith"}}]}};
const PayVirtualAccountActionFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"PayVirtualAccountActionFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PayVirtualAccountAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"virtualAccount"}},{"kind":"Field","name":{"kind":"Name","value":"bankCode"}},{"kind":"Field","name":{"kind":"Name","value":"pollAfterMs"}}]}};
const ScanQrCodeActionFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"ScanQrCodeActionFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ScanQrCodeAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"qrCode"}},{"kind":"Field","name":{"kind":"Name","value":"qrCodeImage"}},{"kind":"Field","name":{"kind":"Name","value":"pollAfterMs"}}]}};
const AwaitProviderActionFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"AwaitProviderActionFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"AwaitProviderAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"pollAfterMs"}}]}};
const NextActionFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"NextActionFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"NextAction"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"RedirectActionFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"ProvideUtrActionFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"ProvideCodeActionFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"ConfirmTransferActionFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PayVirtualAccountActionFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"ScanQrCodeActionFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"AwaitProviderActionFields"}}]}};
const AmountFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"AmountFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Amount"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"currency"}},{"kind":"Field","name":{"kind":"Name","value":"value"}},{"kind":"Field","name":{"kind":"Name","value":"received"}}]}};
const DeclineFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"DeclineFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TransactionError"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"rawCode"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}};
const PaymentFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"PaymentFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PaymentResource"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}},{"kind":"Field","name":{"kind":"Name","value":"channel"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","name":{"kind":"Name","value":"method"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"rawStatus"}},{"kind":"Field","name":{"kind":"Name","value":"amount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AmountFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createDate"}},{"kind":"Field","name":{"kind":"Name","value":"nextAction"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"NextActionFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"DeclineFields"}}]}}]}};
const PayoutFields = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"PayoutFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PayoutResource"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"transactionId"}},{"kind":"Field","name":{"kind":"Name","value":"channel"}},{"kind":"Field","name":{"kind":"Name","value":"externalId"}},{"kind":"Field","name":{"kind":"Name","value":"method"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"rawStatus"}},{"kind":"Field","name":{"kind":"Name","value":"amount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AmountFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"DeclineFields"}}]}}]}};
export const AttemptFieldsDocument = { kind: 'Document', definitions: [AttemptFields, AmountFields] };
export const AttemptDocument = { kind: 'Document', definitions: [{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Attempt"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"idempotencyKey"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"attempt"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"idempotencyKey"},"value":{"kind":"Variable","name":{"kind":"Name","value":"idempotencyKey"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AttemptFields"}},{"kind":"Field","name":{"kind":"Name","value":"payment"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PaymentFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"payout"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PayoutFields"}}]}}]}}]}}, AttemptFields, AmountFields, PaymentFields, NextActionFields, RedirectActionFields, ProvideUtrActionFields, ProvideCodeActionFields, ConfirmTransferActionFields, PayVirtualAccountActionFields, ScanQrCodeActionFields, AwaitProviderActionFields, DeclineFields, PayoutFields] };
export const AttemptsDocument = { kind: 'Document', definitions: [{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Attempts"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"channel"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"outcome"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"AttemptOutcome"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"operation"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"AttemptOperation"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"externalId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"startedAfter"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Timestamp"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"startedBefore"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Timestamp"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"attempts"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"channel"},"value":{"kind":"Variable","name":{"kind":"Name","value":"channel"}}},{"kind":"Argument","name":{"kind":"Name","value":"outcome"},"value":{"kind":"Variable","name":{"kind":"Name","value":"outcome"}}},{"kind":"Argument","name":{"kind":"Name","value":"operation"},"value":{"kind":"Variable","name":{"kind":"Name","value":"operation"}}},{"kind":"Argument","name":{"kind":"Name","value":"externalId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"externalId"}}},{"kind":"Argument","name":{"kind":"Name","value":"startedAfter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"startedAfter"}}},{"kind":"Argument","name":{"kind":"Name","value":"startedBefore"},"value":{"kind":"Variable","name":{"kind":"Name","value":"startedBefore"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"edges"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"node"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AttemptFields"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}, AttemptFields, AmountFields] };
export const PaymentChangeFieldsDocument = { kind: 'Document', definitions: [PaymentChangeFields, AmountFields] };
export const PayoutChangeFieldsDocument = { kind: 'Document', definitions: [PayoutChangeFields, AmountFields] };
export const ChangesDocument = { kind: 'Document', definitions: [{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Changes"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"channel"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"changes"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"channel"},"value":{"kind":"Variable","name":{"kind":"Name","value":"channel"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"changes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PaymentChangeFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PayoutChangeFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}},{"kind":"Field","name":{"kind":"Name","value":"hasMore"}}]}}]}}, PaymentChangeFields, AmountFields, PayoutChangeFields] };
export const WatchChangesDocument = { kind: 'Document', definitions: [{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"WatchChanges"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"channel"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"changes"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"channel"},"value":{"kind":"Variable","name":{"kind":"Name","value":"channel"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PaymentChangeFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PayoutChangeFields"}}]}}]}}, PaymentChangeFields, AmountFields, PayoutChangeFields] };
export const InvalidInputFieldsDocument = { kind: 'Document', definitions: [InvalidInputFields] };
export const RejectedByServiceFieldsDocument = { kind: 'Document', definitions: [RejectedByServiceFields] };
export const IdempotencyConflictFieldsDocument = { kind: 'Document', definitions: [IdempotencyConflictFields] };
export const RequestInProgressFieldsDocument = { kind: 'Document', definitions: [RequestInProgressFields] };
export const OutcomeUnknownFieldsDocument = { kind: 'Document', definitions: [OutcomeUnknownFields] };
export const RedirectActionFieldsDocument = { kind: 'Document', definitions: [RedirectActionFields] };
export const ProvideUtrActionFieldsDocument = { kind: 'Document', definitions: [ProvideUtrActionFields] };
export const ProvideCodeActionFieldsDocument = { kind: 'Document', definitions: [ProvideCodeActionFields] };
export const ConfirmTransferActionFieldsDocument = { kind: 'Document', definitions: [ConfirmTransferActionFields] };
export const PayVirtualAccountActionFieldsDocument = { kind: 'Document', definitions: [PayVirtualAccountActionFields] };
export const ScanQrCodeActionFieldsDocument = { kind: 'Document', definitions: [ScanQrCodeActionFields] };
export const AwaitProviderActionFieldsDocument = { kind: 'Document', definitions: [AwaitProviderActionFields] };
export const NextActionFieldsDocument = { kind: 'Document', definitions: [NextActionFields, RedirectActionFields, ProvideUtrActionFields, ProvideCodeActionFields, ConfirmTransferActionFields, PayVirtualAccountActionFields, ScanQrCodeActionFields, AwaitProviderActionFields] };
export const CreatePaymentDocument = { kind: 'Document', definitions: [{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreatePayment"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreatePaymentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createPayment"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PaymentSuccess"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"payment"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PaymentFields"}}]}}]}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"InvalidInputFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"RejectedByServiceFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"IdempotencyConflictFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"RequestInProgressFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"OutcomeUnknownFields"}}]}}]}}, PaymentFields, AmountFields, NextActionFields, RedirectActionFields, ProvideUtrActionFields, ProvideCodeActionFields, ConfirmTransferActionFields, PayVirtualAccountActionFields, ScanQrCodeActionFields, AwaitProviderActionFields, DeclineFields, InvalidInputFields, RejectedByServiceFields, IdempotencyConflictFields, RequestInProgressFields, OutcomeUnknownFields] };
export const ConfirmPaymentDocument = { kind: 'Document', definitions: [{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"ConfirmPayment"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ConfirmPaymentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"confirmPayment"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PaymentSuccess"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"payment"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PaymentFields"}}]}}]}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"InvalidInputFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"RejectedByServiceFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"RequestInProgressFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"OutcomeUnknownFields"}}]}}]}}, PaymentFields, AmountFields, NextActionFields, RedirectActionFields, ProvideUtrActionFields, ProvideCodeActionFields, ConfirmTransferActionFields, PayVirtualAccountActionFields, ScanQrCodeActionFields, AwaitProviderActionFields, DeclineFields, InvalidInputFields, RejectedByServiceFields, RequestInProgressFields, OutcomeUnknownFields] };
export const PaymentDocument = { kind: 'Document', definitions: [{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Payment"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"channel"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"transactionId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"payment"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"channel"},"value":{"kind":"Variable","name":{"kind":"Name","value":"channel"}}},{"kind":"Argument","name":{"kind":"Name","value":"transactionId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"transactionId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PaymentFields"}}]}}]}}, PaymentFields, AmountFields, NextActionFields, RedirectActionFields, ProvideUtrActionFields, ProvideCodeActionFields, ConfirmTransferActionFields, PayVirtualAccountActionFields, ScanQrCodeActionFields, AwaitProviderActionFields, DeclineFields] };
export const PaymentByExternalIdDocument = { kind: 'Document', definitions: [{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"PaymentByExternalId"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"channel"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"externalId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"payment"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"channel"},"value":{"kind":"Variable","name":{"kind":"Name","value":"channel"}}},{"kind":"Argument","name":{"kind":"Name","value":"externalId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"externalId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PaymentFields"}}]}}]}}, PaymentFields, AmountFields, NextActionFields, RedirectActionFields, ProvideUtrActionFields, ProvideCodeActionFields, ConfirmTransferActionFields, PayVirtualAccountActionFields, ScanQrCodeActionFields, AwaitProviderActionFields, DeclineFields] };
export const PaymentsDocument = { kind: 'Document', definitions: [{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Payments"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"channel"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"transactionIds"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"payments"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"channel"},"value":{"kind":"Variable","name":{"kind":"Name","value":"channel"}}},{"kind":"Argument","name":{"kind":"Name","value":"transactionIds"},"value":{"kind":"Variable","name":{"kind":"Name","value":"transactionIds"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PaymentFields"}}]}}]}}, PaymentFields, AmountFields, NextActionFields, RedirectActionFields, ProvideUtrActionFields, ProvideCodeActionFields, ConfirmTransferActionFields, PayVirtualAccountActionFields, ScanQrCodeActionFields, AwaitProviderActionFields, DeclineFields] };
export const WatchPaymentDocument = { kind: 'Document', definitions: [{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"WatchPayment"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"channel"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"transactionId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"paymentUpdated"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"channel"},"value":{"kind":"Variable","name":{"kind":"Name","value":"channel"}}},{"kind":"Argument","name":{"kind":"Name","value":"transactionId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"transactionId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PaymentFields"}}]}}]}}, PaymentFields, AmountFields, NextActionFields, RedirectActionFields, ProvideUtrActionFields, ProvideCodeActionFields, ConfirmTransferActionFields, PayVirtualAccountActionFields, ScanQrCodeActionFields, AwaitProviderActionFields, DeclineFields] };
export const CreatePayoutDocument = { kind: 'Document', definitions: [{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreatePayout"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreatePayoutInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createPayout"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PayoutSuccess"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"payout"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PayoutFields"}}]}}]}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"InvalidInputFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"RejectedByServiceFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"IdempotencyConflictFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"RequestInProgressFields"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"OutcomeUnknownFields"}}]}}]}}, PayoutFields, AmountFields, DeclineFields, InvalidInputFields, RejectedByServiceFields, IdempotencyConflictFields, RequestInProgressFields, OutcomeUnknownFields] };
export const PayoutDocument = { kind: 'Document', definitions: [{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Payout"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"channel"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"transactionId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"payout"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"channel"},"value":{"kind":"Variable","name":{"kind":"Name","value":"channel"}}},{"kind":"Argument","name":{"kind":"Name","value":"transactionId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"transactionId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PayoutFields"}}]}}]}}, PayoutFields, AmountFields, DeclineFields] };
export const PayoutByExternalIdDocument = { kind: 'Document', definitions: [{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"PayoutByExternalId"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"channel"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"externalId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"payout"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"channel"},"value":{"kind":"Variable","name":{"kind":"Name","value":"channel"}}},{"kind":"Argument","name":{"kind":"Name","value":"externalId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"externalId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PayoutFields"}}]}}]}}, PayoutFields, AmountFields, DeclineFields] };
export const PayoutsDocument = { kind: 'Document', definitions: [{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Payouts"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"channel"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"transactionIds"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"payouts"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"channel"},"value":{"kind":"Variable","name":{"kind":"Name","value":"channel"}}},{"kind":"Argument","name":{"kind":"Name","value":"transactionIds"},"value":{"kind":"Variable","name":{"kind":"Name","value":"transactionIds"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PayoutFields"}}]}}]}}, PayoutFields, AmountFields, DeclineFields] };
export const WatchPayoutDocument = { kind: 'Document', definitions: [{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"WatchPayout"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"channel"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"transactionId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"payoutUpdated"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"channel"},"value":{"kind":"Variable","name":{"kind":"Name","value":"channel"}}},{"kind":"Argument","name":{"kind":"Name","value":"transactionId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"transactionId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PayoutFields"}}]}}]}}, PayoutFields, AmountFields, DeclineFields] };
export const AmountFieldsDocument = { kind: 'Document', definitions: [AmountFields] };
export const DeclineFieldsDocument = { kind: 'Document', definitions: [DeclineFields] };
export const PaymentFieldsDocument = { kind: 'Document', definitions: [PaymentFields, AmountFields, NextActionFields, RedirectActionFields, ProvideUtrActionFields, ProvideCodeActionFields, ConfirmTransferActionFields, PayVirtualAccountActionFields, ScanQrCodeActionFields, AwaitProviderActionFields, DeclineFields] };
export const PayoutFieldsDocument = { kind: 'Document', definitions: [PayoutFields, AmountFields, DeclineFields] };
export const possibleTypes = {"Change":["PaymentChange","PayoutChange"],"ConfirmPaymentResult":["InvalidInputError","OutcomeUnknownError","PaymentSuccess","RejectedByServiceError","RequestInProgressError"],"CreatePaymentResult":["IdempotencyConflictError","InvalidInputError","OutcomeUnknownError","PaymentSuccess","RejectedByServiceError","RequestInProgressError"],"CreatePayoutResult":["IdempotencyConflictError","InvalidInputError","OutcomeUnknownError","PayoutSuccess","RejectedByServiceError","RequestInProgressError"],"NextAction":["AwaitProviderAction","ConfirmTransferAction","PayVirtualAccountAction","ProvideCodeAction","ProvideUtrAction","RedirectAction","ScanQrCodeAction"],"Node":["BankTransferPayout","BkashPayment","BkashPayout","C2cPayment","CardPayment","CardPayout","DcbPayment","DcbPayout","EasyPaisaPayment","EasyPaisaPayout","EwalletPayment","HavalePayment","ImpsPayout","JazzCashPayment","JazzCashPayout","NagadPayment","NagadPayout","OtherPayment","OtherPayout","QrisPayment","RocketPayment","RocketPayout","SchemePayment","SchemePayout","UpiPayment","VirtualAccountPayment"],"Payment":["BkashPayment","C2cPayment","CardPayment","DcbPayment","EasyPaisaPayment","EwalletPayment","HavalePayment","JazzCashPayment","NagadPayment","OtherPayment","QrisPayment","RocketPayment","SchemePayment","UpiPayment","VirtualAccountPayment"],"PaymentResource":["BkashPayment","C2cPayment","CardPayment","DcbPayment","EasyPaisaPayment","EwalletPayment","HavalePayment","JazzCashPayment","NagadPayment","OtherPayment","QrisPayment","RocketPayment","SchemePayment","UpiPayment","VirtualAccountPayment"],"Payout":["BankTransferPayout","BkashPayout","CardPayout","DcbPayout","EasyPaisaPayout","ImpsPayout","JazzCashPayout","NagadPayout","OtherPayout","RocketPayout","SchemePayout"],"PayoutResource":["BankTransferPayout","BkashPayout","CardPayout","DcbPayout","EasyPaisaPayout","ImpsPayout","JazzCashPayout","NagadPayout","OtherPayout","RocketPayout","SchemePayout"],"UserError":["IdempotencyConflictError","InvalidInputError","OutcomeUnknownError","RejectedByServiceError","RequestInProgressError"]};
const CONFIRMATIONS = {
    bkash: (code) => ({ bkash: { code } }),
    c2c: { c2c: 'TRANSFER_MADE' },
    dcb: (code) => ({ dcb: { code } }),
    nagad: (code) => ({ nagad: { code } }),
    rocket: (code) => ({ rocket: { code } }),
    upi: (utr) => ({ upi: { utr } }),
};
const CHANGES_QUERY = `query Changes($channel: UUID!, $after: String, $first: Int) {
  changes(channel: $channel, after: $after, first: $first) {
    changes {
      __typename
      ...PaymentChangeFields
      ...PayoutChangeFields
    }
    endCursor
    hasMore
  }
}

fragment AmountFields on Amount {
  currency
  value
  received
}

fragment PaymentChangeFields on PaymentChange {
  __typename
  cursor
  recordedAt
  channel
  transactionId
  externalId
  method
  previousStatus
  status
  state
  amount {
    ...AmountFields
  }
}

fragment PayoutChangeFields on PayoutChange {
  __typename
  cursor
  recordedAt
  channel
  transactionId
  externalId
  payoutMethod: method
  previousPayoutStatus: previousStatus
  payoutStatus: status
  amount {
    ...AmountFields
  }
}`;
const CHANGES_SUBSCRIPTION = `subscription WatchChanges($channel: UUID!, $after: String) {
  changes(channel: $channel, after: $after) {
    __typename
    ...PaymentChangeFields
    ...PayoutChangeFields
  }
}

fragment AmountFields on Amount {
  currency
  value
  received
}

fragment PaymentChangeFields on PaymentChange {
  __typename
  cursor
  recordedAt
  channel
  transactionId
  externalId
  method
  previousStatus
  status
  state
  amount {
    ...AmountFields
  }
}

fragment PayoutChangeFields on PayoutChange {
  __typename
  cursor
  recordedAt
  channel
  transactionId
  externalId
  payoutMethod: method
  previousPayoutStatus: previousStatus
  payoutStatus: status
  amount {
    ...AmountFields
  }
}`;
class EventStreamParser {
    #incompleteLine = '';
    #eventName = '';
    #dataLines = [];
    push(part) {
        const lines = (this.#incompleteLine + part).split(/\r\n|\n|\r(?!$)/);
        this.#incompleteLine = lines.pop() ?? '';
        return lines.flatMap((line) => this.#readLine(line) ?? []);
    }
    #readLine(line) {
        if (line === '')
            return this.#endEvent();
        const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
        if (name === 'event')
            this.#eventName = value;
        if (name === 'data')
            this.#dataLines.push(value);
        return undefined;
    }
    #endEvent() {
        const event = { event: this.#eventName, data: this.#dataLines.join('\n') };
        const hasData = this.#dataLines.length > 0;
        this.#eventName = '';
        this.#dataLines = [];
        return hasData ? event : undefined;
    }
}
class RetryableError extends Error {
    retryAfterMs;
    constructor(cause, retryAfterMs = 0) {
        super('The connection to the gateway was interrupted.', { cause });
        this.retryAfterMs = retryAfterMs;
    }
}
function parseResult(text) {
    try {
        return Object(JSON.parse(text));
    }
    catch {
        return {};
    }
}
function throwResponseError({ errors = [] }) {
    const error = gatewayError(errors);
    if (!error)
        throw new RequestRefused('The response does not come from a gateway: check the URL.', errors);
    const { code, message, retryable, retryAfterMs, oldestCursor } = error;
    if (oldestCursor !== null)
        throw new CursorExpired(message, oldestCursor);
    if (retryable)
        throw new RetryableError({ errors }, retryAfterMs ?? 0);
    throw new RequestRefused(`${code}: ${message}`, errors);
}
const isTransient = (status) => status >= 500 || [408, 425, 429].includes(status);
class GatewayRequest {
    #connection;
    #controller = new AbortController();
    #onAbort = () => this.#controller.abort(this.#connection.signal?.reason);
    constructor(connection) {
        this.#connection = connection;
        connection.signal?.addEventListener('abort', this.#onAbort);
    }
    async send(operation, path, contentType) {
        const { url, headers, fetch: sendRequest = fetch } = this.#connection;
        const callerHeaders = typeof headers === 'function' ? await headers() : headers;
        const response = await this.#withIdleTimeout(() => sendRequest(url.replace(/\/?$/, path), {
            method: 'POST',
            headers: { accept: contentType, 'content-type': 'application/json', ...callerHeaders },
            body: JSON.stringify(operation),
            signal: this.#controller.signal,
        }));
        if (response.ok && response.headers.get('content-type')?.includes(contentType))
            return response;
        const result = parseResult(await this.readText(response));
        if (!gatewayError(result) && isTransient(response.status))
            throw new RetryableError(new Error(`The gateway responded with HTTP ${response.status}.`));
        return throwResponseError(result);
    }
    readText(response) {
        return this.#withIdleTimeout(() => response.text());
    }
    async *readParts(response) {
        const reader = response.body?.getReader();
        for (;;) {
            const part = await this.#withIdleTimeout(async () => reader?.read());
            if (!part || part.done)
                return;
            yield part.value;
        }
    }
    close() {
        this.#connection.signal?.removeEventListener('abort', this.#onAbort);
        this.#controller.abort();
    }
    async #withIdleTimeout(receive) {
        const { signal, idleTimeoutMs = 60_000 } = this.#connection;
        signal?.throwIfAborted();
        const onTimeout = () => this.#controller.abort(new Error(`No data within ${idleTimeoutMs} ms.`));
        const timer = setTimeout(onTimeout, idleTimeoutMs);
        try {
            return await receive();
        }
        catch (error) {
            signal?.throwIfAborted();
            throw new RetryableError(error);
        }
        finally {
            clearTimeout(timer);
        }
    }
}
const isObject = (value) => typeof value === 'object' && value !== null;
function parseJson(text) {
    try {
        return JSON.parse(text);
    }
    catch {
        return null;
    }
}
function graphqlErrorsIn(error) {
    if (Array.isArray(error))
        return error;
    if (!isObject(error))
        return [];
    for (const list of [error['graphQLErrors'], error['errors']])
        if (Array.isArray(list) && list.length > 0)
            return list;
    if (typeof error['bodyText'] === 'string')
        return graphqlErrorsIn(parseJson(error['bodyText']));
    return isObject(error['extensions']) ? [error] : [];
}
const isGatewayExtensions = (extensions) => isObject(extensions) &&
    typeof extensions['code'] === 'string' &&
    typeof extensions['retryable'] === 'boolean';
function toGatewayError(error) {
    if (!isObject(error) || !isGatewayExtensions(error['extensions']))
        return null;
    const { code, retryable, requestId, retryAfterMs, fields, oldestCursor } = error['extensions'];
    return {
        code,
        message: String(error['message']),
        retryable,
        requestId: typeof requestId === 'string' ? requestId : null,
        retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : null,
        fields: Array.isArray(fields) ? fields : [],
        oldestCursor: typeof oldestCursor === 'string' ? oldestCursor : null,
        path: Array.isArray(error['path']) ? error['path'] : null,
    };
}
export function gatewayError(error) {
    for (const graphqlError of graphqlErrorsIn(error)) {
        const found = toGatewayError(graphqlError);
        if (found)
            return found;
    }
    return null;
}
export const isRetryable = (error) => gatewayError(error)?.retryable ?? false;
export function confirmationFor(action, value) {
    const { confirmWith } = action;
    if (!Object.hasOwn(CONFIRMATIONS, confirmWith))
        throw new TypeError(`This version of @paygraph/client does not know confirmWith: ${confirmWith}.`);
    const confirmation = CONFIRMATIONS[confirmWith];
    if (typeof confirmation !== 'function')
        return confirmation;
    if (value === undefined)
        throw new TypeError(`The confirmation ${confirmWith} needs a value.`);
    return confirmation(value);
}
const MIN_DECIMALS = 2;
const MAX_DECIMALS = 20;
function countDecimals(text) {
    const [matches, decimals = ''] = /^-?\d+(?:\.(\d+))?$/.exec(text) ?? [];
    return matches === undefined || decimals.length > MAX_DECIMALS ? null : decimals.length;
}
export function formatMoney(amount, locale) {
    const { value, currency } = amount;
    const decimalCount = countDecimals(value);
    if (decimalCount === null)
        return `${value} ${currency}`;
    const shownDecimals = Math.max(MIN_DECIMALS, decimalCount);
    const digitOptions = { minimumFractionDigits: shownDecimals, maximumFractionDigits: shownDecimals };
    const exactValue = value;
    if (/^[A-Z]{3}$/.test(currency))
        return new Intl.NumberFormat(locale, { style: 'currency', currency, ...digitOptions }).format(exactValue);
    return `${new Intl.NumberFormat(locale, digitOptions).format(exactValue)} ${currency}`;
}
const externalIdPolicy = {
    fields: { externalId: { merge: (existing, incoming) => incoming ?? existing ?? null } },
};
export const typePolicies = {
    PaymentResource: externalIdPolicy,
    PayoutResource: externalIdPolicy,
};
export class CursorExpired extends Error {
    oldestCursor;
    constructor(message, oldestCursor) {
        super(message);
        this.oldestCursor = oldestCursor;
        this.name = 'CursorExpired';
    }
}
export class RequestRefused extends Error {
    errors;
    constructor(message, errors) {
        super(message);
        this.errors = errors;
        this.name = 'RequestRefused';
    }
}
const STABLE_CONNECTION_MS = 30_000;
const backoffMs = (failures) => Math.min(30_000, 500 * 2 ** failures) * (0.5 + Math.random() / 2);
export async function* changes(options) {
    const { signal, retryWaitMs = backoffMs, onRetry } = options;
    let after = options.after ?? null;
    for (let failures = 0;; failures += 1) {
        const startedAt = performance.now();
        try {
            for await (const { change, cursor } of readPagesThenLive(options, after)) {
                signal?.throwIfAborted();
                after = cursor;
                if (!change)
                    continue;
                failures = 0;
                yield change;
            }
        }
        catch (error) {
            if (!(error instanceof RetryableError))
                throw error;
            if (performance.now() - startedAt > STABLE_CONNECTION_MS)
                failures = 0;
            const waitMs = Math.max(retryWaitMs(failures), error.retryAfterMs);
            onRetry?.(error.cause, waitMs);
            await pause(waitMs, signal);
        }
    }
}
async function* readPagesThenLive(options, startCursor) {
    let after = startCursor;
    for (let hasMore = true; hasMore;) {
        const page = await readPage(options, after);
        for (const receivedChange of page.changes)
            yield* feedItemsOf(receivedChange);
        yield { change: null, cursor: page.endCursor };
        after = page.endCursor;
        hasMore = page.hasMore;
    }
    return yield* readLive(options, after);
}
async function readPage(options, after) {
    const request = new GatewayRequest(options);
    try {
        const variables = { channel: options.channel, after, first: options.pageSize ?? 100 };
        const response = await request.send({ query: CHANGES_QUERY, variables }, '', 'application/json');
        const result = parseResult(await request.readText(response));
        if (result.errors || !result.data)
            return throwResponseError(result);
        return result.data.changes;
    }
    finally {
        request.close();
    }
}
async function* readLive(options, after) {
    const request = new GatewayRequest(options);
    try {
        const operation = { query: CHANGES_SUBSCRIPTION, variables: { channel: options.channel, after } };
        const response = await request.send(operation, '/stream', 'text/event-stream');
        const decoder = new TextDecoder();
        const parser = new EventStreamParser();
        for await (const part of request.readParts(response))
            for (const { event, data } of parser.push(decoder.decode(part, { stream: true })))
                if (event === 'next')
                    yield* feedItemsOf(parseLiveChange(data));
        throw new RetryableError(new Error('The event stream ended.'));
    }
    finally {
        request.close();
    }
}
function parseLiveChange(data) {
    const result = parseResult(data);
    if (gatewayError(result)?.code === 'UNAUTHENTICATED')
        throw new RetryableError(result);
    if (result.errors || !result.data)
        return throwResponseError(result);
    return result.data.changes;
}
function* feedItemsOf(receivedChange) {
    if (!('cursor' in receivedChange))
        return;
    yield { change: changeOf(receivedChange), cursor: receivedChange.cursor };
}
function changeOf(receivedChange) {
    if (receivedChange.__typename === 'PaymentChange')
        return receivedChange;
    const { payoutMethod: method, previousPayoutStatus: previousStatus, payoutStatus: status, ...rest } = receivedChange;
    return { ...rest, method, previousStatus, status };
}
function pause(ms, signal) {
    return new Promise((resolve, reject) => {
        const finish = () => {
            clearTimeout(timer);
            signal?.removeEventListener('abort', finish);
            if (signal?.aborted)
                reject(signal.reason);
            else
                resolve();
        };
        const timer = setTimeout(finish, ms);
        signal?.addEventListener('abort', finish);
        if (signal?.aborted)
            finish();
    });
}
