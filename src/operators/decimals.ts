/** Exact decimal numbers: an integer and a scale, never a binary fraction. */

/** The number `unscaled` / 10^`scale`. */
export interface Decimal {
  readonly unscaled: bigint;
  readonly scale: number;
}

/** Maximum number of characters of a decimal. The time to parse digits grows faster than their number. */
const MAX_LENGTH = 400;
const DECIMAL_TEXT = /^(-?)(\d+)(?:\.(\d+))?$/;
const NUMBER_TEXT = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

/** Parses `"12.30"` or `12.3` to a decimal without trailing zeros. A number is parsed from its shortest text. Returns undefined for other values. */
export function parseDecimal(value: unknown): Decimal | undefined {
  if (typeof value === 'string') return value.length > MAX_LENGTH ? undefined : fromParts(DECIMAL_TEXT.exec(value));
  return typeof value === 'number' && Number.isFinite(value) ? fromParts(NUMBER_TEXT.exec(String(value))) : undefined;
}

/** Returns a negative number, zero or a positive number if `left` is less than, equal to or greater than `right`. */
export function compareDecimals(left: Decimal, right: Decimal): number {
  const scale = Math.max(left.scale, right.scale);
  const difference = toScale(left, scale) - toScale(right, scale);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

/** Renders a decimal without exponent, with `scale` digits after the point: `12.3`. */
export function toDecimalText(decimal: Decimal): string {
  const sign = decimal.unscaled < 0n ? '-' : '';
  const digits = (decimal.unscaled < 0n ? -decimal.unscaled : decimal.unscaled).toString().padStart(decimal.scale + 1, '0');
  const point = digits.length - decimal.scale;
  return decimal.scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

function fromParts(match: RegExpExecArray | null): Decimal | undefined {
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = `${whole}${fraction}`;
  const places = fraction.length - Number(exponent);
  const zeros = places > 0 ? trailingZeros(digits, places) : 0;
  const unscaled = BigInt(digits.slice(0, digits.length - zeros) || '0') * 10n ** BigInt(Math.max(0, -places));
  return { unscaled: sign === '-' ? -unscaled : unscaled, scale: Math.max(0, places - zeros) };
}

function trailingZeros(digits: string, atMost: number): number {
  let zeros = 0;
  while (zeros < atMost && zeros < digits.length && digits[digits.length - 1 - zeros] === '0') zeros++;
  return zeros;
}

function toScale(decimal: Decimal, scale: number): bigint {
  return decimal.unscaled * 10n ** BigInt(scale - decimal.scale);
}
