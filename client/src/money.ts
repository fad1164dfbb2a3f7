/** Number of decimals of every amount that the gateway sends to the service, whatever the currency. */
const DECIMALS = 2;

/** Maximum number of decimals that Intl.NumberFormat accepts in every engine. */
const MAX_DECIMALS = 20;

/** Returns the number of decimals of a decimal string; null if it is none, or has more than can be formatted. */
function decimalsIn(text: string): number | null {
  const [matches, decimals = ''] = /^-?\d+(?:\.(\d+))?$/.exec(text) ?? [];
  return matches === undefined || decimals.length > MAX_DECIMALS ? null : decimals.length;
}

/**
 * Formats an amount for a locale, for example "€25.00" or "25,00 €". The digits are exactly those of `value`, which is
 * a decimal string and is never converted to a floating point number. At least two decimals are shown, as the gateway
 * sends them, also for currencies that have none. A currency that Intl does not know (such as USDT) is shown by its
 * code, a value that is not a decimal unchanged. For a MISPAID payment:
 * `formatMoney({ ...amount, value: amount.received })`.
 * @param locale as for Intl.NumberFormat, for example "de-DE"; by default that of the runtime
 * @throws {RangeError} if Intl refuses the locale, for example "en_US"
 */
export function formatMoney(
  amount: { readonly value: string; readonly currency: string },
  locale?: string | readonly string[],
): string {
  const { value, currency } = amount;
  const decimals = decimalsIn(value);
  if (decimals === null) return `${value} ${currency}`;
  const shown = Math.max(DECIMALS, decimals);
  const digits = { minimumFractionDigits: shown, maximumFractionDigits: shown };
  // ECMA-402 of 2023 formats strings exactly, but rounds numbers.
  const exact = value as `${number}`;
  if (/^[A-Z]{3}$/.test(currency))
    return new Intl.NumberFormat(locale, { style: 'currency', currency, ...digits }).format(exact);
  return `${new Intl.NumberFormat(locale, digits).format(exact)} ${currency}`;
}
