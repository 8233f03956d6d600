const DECIMAL = /^-?\d+(?:\.\d+)?$/;

/** The numbers that a field accepts. */
interface NumberLimits {
  readonly isInteger?: boolean | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** Returns the number that a text says; undefined if it says none, or one outside the limits. */
export function parseNumber(text: string, { isInteger = false, min = -Infinity, max = Infinity }: NumberLimits): number | undefined {
  const trimmed = text.trim();
  const number = Number(trimmed);
  const isAccepted = DECIMAL.test(trimmed) && number >= min && number <= max && (!isInteger || Number.isSafeInteger(number));
  return isAccepted ? number : undefined;
}
