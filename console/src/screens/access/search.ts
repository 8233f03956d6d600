/** The state of the screen of access: the search parameters of its address. */

/** The tabs. */
export const TABS = ['matrix', 'whoCan', 'permissions'] as const;

/** The state of the screen. */
export interface AccessSearch {
  readonly tab?: (typeof TABS)[number];
  readonly resource?: string;
  readonly action?: string;
  readonly id?: string;
  readonly user?: string;
  /** True to show the policies in force alone although there is a draft. */
  readonly live?: boolean;
}

/** Reads the state from an address. */
export function validateAccessSearch(given: Record<string, unknown>): AccessSearch {
  const texts = (['resource', 'action', 'id', 'user'] as const).flatMap((name) => {
    const value = given[name];
    // An empty text removes the parameter.
    return (typeof value === 'string' && value !== '') || typeof value === 'number' ? [[name, String(value)]] : [];
  });
  const tab = TABS.find((each) => each === given['tab']);
  return { ...Object.fromEntries(texts), ...(tab !== undefined && { tab }), ...(given['live'] === true && { live: true }) };
}
