/** The actions that are decided for one record that exists. */
export const OF_RECORDS: ReadonlySet<string> = new Set(['read', 'update', 'delete', 'restore']);
