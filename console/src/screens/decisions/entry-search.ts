/** The search for entries by an id or an address that was copied from elsewhere. */
import { bodyOf, client } from '../../api/client.ts';
import { hasCode } from '../../api/problem.ts';
import type { DecisionsSearch } from './search.ts';

/** Requests of the search. */
export interface EntryLookups {
  /** Returns true if an entry has this value. */
  has(member: 'requestId' | 'recordId', value: string): Promise<boolean>;
  /** Returns true if this is the id of an entry. */
  isEntry(id: string): Promise<boolean>;
}

/**
 * Returns the state that shows what was searched: the entries of an address, of a request or of a record at all times, also those that are
 * hidden by default, or one entry. Undefined if there is none.
 */
export async function findEntries(text: string, { has, isEntry }: EntryLookups): Promise<DecisionsSearch | undefined> {
  const value = text.trim();
  const all = { range: 'all', adminReads: true, refreshes: true } as const;
  if (isAddress(value)) return { ...all, ip: value };
  const [isRequest, isRecord] = await Promise.all([has('requestId', value), has('recordId', value)]);
  if (isRequest) return { range: 'all', requestId: value };
  if (isRecord) return { ...all, recordId: value };
  return UUID.test(value) && (await isEntry(value)) ? { entry: value } : undefined;
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Returns true for an IPv4 or IPv6 address. */
function isAddress(text: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(text) || (/^[\da-f:.]+$/i.test(text) && (text.match(/:/g)?.length ?? 0) >= 2);
}

/** The requests to the service. */
export const entryLookups: EntryLookups = {
  async has(member, value) {
    const query = { [member]: value, limit: 1 };
    return (await bodyOf(client.GET('/admin/api/decisions', { params: { query } }))).data.length > 0;
  },
  async isEntry(id) {
    try {
      await bodyOf(client.GET('/admin/api/decisions/{id}', { params: { path: { id } } }));
      return true;
    } catch (error) {
      if (hasCode(error, 'DECISION_UNKNOWN')) return false;
      throw error;
    }
  },
};
