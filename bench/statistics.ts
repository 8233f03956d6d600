/** The middle value; the upper one of two. Not a number where there is none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value that this share of all is not above. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * How many times the other's these are: the median of the ratios round by round, because rounds that took turns
 * shared what else the machine did. Where rounds do not pair, the ratio of the medians.
 */
export function ratioOf(values: readonly number[], others: readonly number[]): number {
  if (values.length !== others.length) return median(values) / median(others);
  return median(values.map((value, index) => value / (others[index] ?? Number.NaN)));
}

/** What a value grows by for one more of the other, over points of both, by least squares; 0 where all points share an abscissa. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
}
