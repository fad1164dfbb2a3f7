/** Minimum number of decimals in a formatted amount. The gateway sends each amount to the service with two decimals. */
const MIN_DECIMALS = 2;

/** Maximum number of decimals that Intl.NumberFormat accepts in every engine. */
const MAX_DECIMALS = 20;

/** Returns the number of decimals; null if `text` is not a decimal number or has more than MAX_DECIMALS decimals. */
function countDecimals(text: string): number | null {
  const [matches, decimals = ''] = /^-?\d+(?:\.(\d+))?$/.exec(text) ?? [];
  return matches === undefined || decimals.length > MAX_DECIMALS ? null : decimals.length;
}

/**
 * Formats an amount for a locale, for example "€25.00" or "25,00 €". Does not round, and shows at least two decimals in
 * every currency. A currency that is no three-letter code, for example USDT, appears as its code after the number. A
 * `value` that is no decimal number, or that has more than 20 decimals, appears unchanged before the currency code. To
 * format the received amount of a MISPAID payment, call `formatMoney({ ...amount, value: amount.received })`.
 * @param locale locale for Intl.NumberFormat, for example "de-DE"; by default the runtime's locale
 * @throws {RangeError} if Intl.NumberFormat rejects the locale, for example "en_US"
 */
export function formatMoney(
  amount: { readonly value: string; readonly currency: string },
  locale?: string | readonly string[],
): string {
  const { value, currency } = amount;
  const decimalCount = countDecimals(value);
  if (decimalCount === null) return `${value} ${currency}`;
  const shownDecimals = Math.max(MIN_DECIMALS, decimalCount);
  const digitOptions = { minimumFractionDigits: shownDecimals, maximumFractionDigits: shownDecimals };
  // Intl.NumberFormat formats a numeric string exactly (ECMA-402 of 2023), but rounds a number.
  const exactValue = value as `${number}`;
  if (/^[A-Z]{3}$/.test(currency))
    return new Intl.NumberFormat(locale, { style: 'currency', currency, ...digitOptions }).format(exactValue);
  return `${new Intl.NumberFormat(locale, digitOptions).format(exactValue)} ${currency}`;
}
