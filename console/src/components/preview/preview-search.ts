/** The question of a preview in the URL. */

/** The times that a preview can replay. */
export const PREVIEW_RANGES = ['24h', '7d', '30d', 'all'] as const;

/** The time that a preview replays. */
export type PreviewRange = (typeof PREVIEW_RANGES)[number];

/** The state of a preview in the search parameters of its URL. The draft is in the fragment. */
export interface PreviewSearch {
  readonly range?: PreviewRange;
  /** True to take values that were not kept from the records of today. */
  readonly fill?: true;
}

/** Reads the state of a preview from the search parameters of the URL. */
export function validatePreviewSearch({ range, fill }: Readonly<Record<string, unknown>>): PreviewSearch {
  const known = PREVIEW_RANGES.find((each) => each === range);
  return { ...(known !== undefined && { range: known }), ...(fill === true && { fill }) };
}
