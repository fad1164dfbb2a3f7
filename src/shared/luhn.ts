/** Whether the last digit of a number is the correct check digit (Luhn algorithm, ISO/IEC 7812). */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let positionFromRight = 1; positionFromRight <= digits.length; positionFromRight += 1) {
    const digit = digits.charCodeAt(digits.length - positionFromRight) - 0x30;
    const weightedDigit = positionFromRight % 2 === 0 ? digit * 2 : digit;
    sum += weightedDigit > 9 ? weightedDigit - 9 : weightedDigit;
  }
  return sum % 10 === 0;
}
