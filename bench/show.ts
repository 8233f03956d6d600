/** A number for people: three digits that count, and no more than that behind the point. */
export function show(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) < 100 ? String(Number(value.toPrecision(3))) : Math.round(value).toLocaleString('en');
}
