/** The question of a preview in the URL. */
import type { Schemas } from '../../api/client.ts';

/** The times that a preview can replay. */
export const PREVIEW_RANGES = ['24h', '7d', '30d', 'all'] as const;

/** The time that a preview replays. */
export type PreviewRange = (typeof PREVIEW_RANGES)[number];

/** The state of a preview in the search parameters of its URL. The draft is in the fragment. */
export interface PreviewSearch {
  readonly range?: PreviewRange;
  /** True to take values that were not kept from the records of today. */
  readonly fill?: true;
  /** Only decisions on this resource. */
  readonly resource?: string;
  /** Only decisions for callers with this role. */
  readonly role?: string;
  /** Only decisions for the user with this id. */
  readonly user?: string;
}

/** The members of the question that select decisions by a value. */
const VALUES = ['resource', 'role', 'user'] as const;

/** Reads the state of a preview from the search parameters of the URL. */
export function validatePreviewSearch(given: Readonly<Record<string, unknown>>): PreviewSearch {
  const { range, fill } = given;
  const known = PREVIEW_RANGES.find((each) => each === range);
  const values = VALUES.flatMap((name) => {
    const value = given[name];
    return (typeof value === 'string' && value !== '') || typeof value === 'number' ? [[name, String(value)]] : [];
  });
  return { ...(known !== undefined && { range: known }), ...(fill === true && { fill }), ...Object.fromEntries(values) };
}

/** The hours before now that a time covers; undefined for all times. */
const HOURS = { '24h': 24, '7d': 168, '30d': 720, all: undefined } as const satisfies Record<PreviewRange, number | undefined>;

/** Returns the filter of the API for the decisions of a question. */
export function toPreviewFilter({ range = '7d', resource, role, user }: PreviewSearch, now: number): Schemas['admin.PreviewFilter'] {
  const hours = HOURS[range];
  return {
    ...(hours !== undefined && { from: new Date(now - hours * 3_600_000).toISOString() }),
    ...(resource !== undefined && { resource }),
    ...(role !== undefined && { role }),
    ...(user !== undefined && { userId: user }),
  };
}
