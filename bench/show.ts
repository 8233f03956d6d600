/** Formats a number: three significant digits below 100, whole numbers from there on. */
export function show(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) < 100 ? String(Number(value.toPrecision(3))) : Math.round(value).toLocaleString('en');
}
