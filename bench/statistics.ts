/** Returns the middle value, or the upper one of two middle values; NaN for an empty list. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Returns the quantile of a share: 0.99 for the 99th percentile. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * Returns the median of the ratios of each round, because other load on the machine affects both values of a round. If the numbers of
 * rounds differ, returns the ratio of the medians.
 */
export function ratioOf(values: readonly number[], others: readonly number[]): number {
  if (values.length !== others.length) return median(values) / median(others);
  return median(values.map((value, index) => value / (others[index] ?? Number.NaN)));
}

/** Returns the slope of the least-squares line through the points; 0 if all points have the same x. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
}
