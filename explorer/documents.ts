const NEXT_ACTIONS: Readonly<Record<string, string>> = {
  RedirectAction: 'url pollAfterMs',
  ProvideUtrAction: 'upiId upiLink confirmWith',
  ProvideCodeAction: 'account confirmWith',
  ConfirmTransferAction: 'cardNumber recipient confirmWith',
  PayVirtualAccountAction: 'virtualAccount bankCode pollAfterMs',
  ScanQrCodeAction: 'qrCode pollAfterMs',
  AwaitProviderAction: 'pollAfterMs',
};

const FAILURE_SELECTION = `... on UserError { code message }
... on InvalidInputError { fields { path rule message } }`;

/** Indents all lines except the first, by two spaces per level. */
export const indent = (text: string, levels: number): string =>
  text.replaceAll('\n', `\n${'  '.repeat(levels)}`);

/** Returns an inline fragment on `type` with `fields`; '' if `fields` is empty. */
export const fragmentOn = (type: string, fields: readonly string[]): string =>
  fields.length > 0 ? `\n... on ${type} { ${fields.join(' ')} }` : '';

/** Returns the selection set of a payment. `methodFields`: further selections. `actions`: next actions to select. */
export const payment = (
  methodFields = '',
  actions = Object.keys(NEXT_ACTIONS),
): string => `... on PaymentResource {
  transactionId
  externalId
  method
  status
  amount { currency value received }
  error { code message reason }
  nextAction {
    __typename
    ${actions.map((type) => `... on ${type} { ${NEXT_ACTIONS[type]} }`).join('\n    ')}
  }
}${methodFields}`;

export const payout = (methodFields = ''): string => `... on PayoutResource {
  transactionId
  externalId
  method
  status
  amount { currency value }
  error { code message reason }
}${methodFields}`;

/** Formats a text as GraphQL comment lines that fit a narrow editor. */
export const comment = (text: string): string => text.replace(/(?=\S)(.{1,46})(\s+|$)/g, '# $1\n').trimEnd();

interface Mutation {
  name: string;
  field: 'createPayment' | 'confirmPayment' | 'createPayout';
  comment: string;
  selection: string;
}

export function mutation({ name, field, comment: text, selection }: Mutation): string {
  const result = field === 'createPayout' ? 'payout' : 'payment';
  return `${comment(text)}
mutation ${name}($input: ${capital(field)}Input!) {
  ${field}(input: $input) {
    ... on ${capital(result)}Success {
      replayed
      ${result} {
        ${indent(selection, 4)}
      }
    }
    ${indent(FAILURE_SELECTION, 2)}
  }
}
`;
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
