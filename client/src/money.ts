/** Decimals of every amount that the gateway sends to the service, whatever the currency. */
const DECIMALS = 2;

/** Most decimals that Intl.NumberFormat takes in every engine. */
const MAX_DECIMALS = 20;

/** How many decimals a decimal string has; null where it is none, or has more than can be formatted. */
function decimalsIn(text: string): number | null {
  const [matches, decimals = ''] = /^-?\d+(?:\.(\d+))?$/.exec(text) ?? [];
  return matches === undefined || decimals.length > MAX_DECIMALS ? null : decimals.length;
}

/**
 * An amount in the words of a locale, for example "€25.00" or "25,00 €". The digits stay exactly those of `value`: it is a
 * decimal string and is never read as a floating point number. At least two decimals are shown, as the gateway sends
 * them, also for currencies that have none. A currency that Intl does not know (USDT, say) is shown by its code, and a
 * value that is no decimal as it came. For a MISPAID payment: `formatMoney({ ...amount, value: amount.received })`.
 * @param locale as for Intl.NumberFormat, for example "de-DE"; without it that of the runtime
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
  // ECMA-402 of 2023 formats strings exactly; numbers it would round.
  const exact = value as `${number}`;
  if (/^[A-Z]{3}$/.test(currency))
    return new Intl.NumberFormat(locale, { style: 'currency', currency, ...digits }).format(exact);
  return `${new Intl.NumberFormat(locale, digits).format(exact)} ${currency}`;
}
