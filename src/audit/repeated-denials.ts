/**
 * Repeated denials of callers without a token. The first denial in a window of time has an entry; the others add to a durable number, which
 * is committed before their responses are sent. `close-denial-windows.ts` writes the number to the audit log when the window has ended.
 */
import { networkOf } from '../ip-address.ts';
import { type Sql, sql } from '../sql.ts';
import type { ChainWriter, Query } from '../storage/index.ts';
import type { AuditEntry } from './audit-entry.ts';

/** Maximum number of windows per process. Beyond it, denials share one window per resource and action. */
const MAX_WINDOWS = 10_000;

const HOUR = 3_600_000;

/** A window of time in which denials of the same resource, action, rule, reason and network are counted. */
export interface DenialWindow {
  readonly key: string;
  /** The denial with which the window began. */
  readonly first: Pick<AuditEntry, 'id' | 'at' | 'resource' | 'action'>;
  /** Undefined if the denials have several networks and reasons. */
  readonly network: string | undefined;
  readonly endsAt: string;
}

/** A denial to append. The first of a window is an entry of its own; each of the others adds 1 to the number of the window. */
export interface CountableDenial {
  readonly entry: AuditEntry;
  readonly windows: DenialWindows;
  /** The window that counts the denial. Set when the denial is written. */
  window?: DenialWindow;
}

/** The open windows of one process. */
export interface DenialWindows {
  /**
   * Assigns denials that are written in one commit to their windows: windows that are open, or new ones that begin with the first of these
   * denials. A commit that is tried again may omit some of the denials.
   */
  assign(denials: readonly CountableDenial[]): void;
  /** Opens the windows that began with these denials. Call it after their commit, because other commits refer to the entry of the first. */
  open(denials: readonly CountableDenial[]): void;
}

/** Options of windows. */
export interface DenialWindowOptions {
  /** Maximum length. A window also ends at the end of the hour, so that the hourly counts contain all of it or nothing. */
  readonly seconds: number;
  readonly maxWindows?: number;
}

/** Creates the windows of one process. */
export function createDenialWindows({ seconds, maxWindows = MAX_WINDOWS }: DenialWindowOptions): DenialWindows {
  const windows = new Map<string, DenialWindow>();

  /** Deletes the windows that have ended. The map has the order in which they began, which is the order in which they end. */
  function deleteEnded(now: string): void {
    for (const [key, { endsAt }] of windows) {
      if (endsAt > now) return;
      windows.delete(key);
    }
  }

  /** Returns the window that counts a denial: an open one, one of `begun`, or a new one. */
  function windowOf(entry: AuditEntry, begun: ReadonlyMap<string, DenialWindow>): DenialWindow {
    const find = (key: string): DenialWindow | undefined => {
      const open = windows.get(key);
      return open !== undefined && open.endsAt > entry.at ? open : begun.get(key);
    };
    const network = networkOf(entry.ip);
    const own = { key: toKey(entry, network), network };
    const shared = { key: toSharedKey(entry), network: undefined };
    const isFull = windows.size + begun.size >= maxWindows;
    const { id, at, resource, action } = entry;
    const begin = (): DenialWindow => ({ ...(isFull ? shared : own), first: { id, at, resource, action }, endsAt: endOf(at, seconds) });
    return find(own.key) ?? (isFull ? find(shared.key) : undefined) ?? begin();
  }

  return {
    assign(denials) {
      const begun = new Map<string, DenialWindow>();
      for (const denial of denials) {
        deleteEnded(denial.entry.at);
        // An earlier attempt at the commit may have stored the entry of this denial, so the denial keeps it.
        if (!hasOwnEntry(denial)) denial.window = windowOf(denial.entry, begun);
        if (denial.window !== undefined && hasOwnEntry(denial)) begun.set(denial.window.key, denial.window);
      }
    },
    open(denials) {
      for (const denial of denials) {
        if (denial.window === undefined || !hasOwnEntry(denial)) continue;
        windows.delete(denial.window.key);
        windows.set(denial.window.key, denial.window);
      }
    },
  };
}

/** Returns true if a denial is the first of its window, so that it has an entry. */
export function hasOwnEntry({ entry, window }: CountableDenial): boolean {
  return window?.first.id === entry.id;
}

/** The `action` of entries of kind `evaluation`. No rule has this action. */
export const EVALUATION = 'permissions';

/** Returns true if an entry without a token may share a window with others: denials and evaluations. Allowed requests always have an entry. */
export function isCountable({ kind, allowed }: AuditEntry): boolean {
  return kind === 'evaluation' || (kind === 'access' && !allowed);
}

/** Contains the id of the rule too, because several rules can have the same name in a reason. */
function toKey({ resource, action, ruleId = '', reason }: AuditEntry, network: string): string {
  return `${network} ${action} ${resource} ${ruleId} ${reason}`;
}

/** Returns the key of the window for all networks and reasons. It begins with a space, as no other key does. */
function toSharedKey({ resource, action }: AuditEntry): string {
  return ` ${action} ${resource}`;
}

function endOf(at: string, seconds: number): string {
  const start = Date.parse(at);
  return new Date(Math.min(start + seconds * 1000, (Math.floor(start / HOUR) + 1) * HOUR)).toISOString();
}

/**
 * Returns the statements that add denials to the numbers of their windows. A row belongs to the writer of a hash chain, which one transaction
 * holds at a time, so transactions do not wait for each other's commit. The id of the row is the id of the newest denial that began an addition:
 * it shows whether an in-doubt commit was stored, and a second attempt, which has another writer, violates the primary key.
 */
export function countRepeats(writer: ChainWriter, repeats: readonly CountableDenial[]): readonly Sql[] {
  const groups = Map.groupBy(repeats, ({ window }) => window as DenialWindow);
  return [...groups].map(([{ first, network = null, endsAt }, same]) => {
    const [{ entry }] = same as [CountableDenial];
    const last = same
      .map((denial) => denial.entry.at)
      .sort()
      .at(-1);
    return sql`
      insert into "_RepeatedDenial" ("id", "first", "writer", "resource", "action", "network", "since", "last", "endsAt", "count")
      values (${entry.id}, ${first.id}, ${writer.id}, ${first.resource}, ${first.action}, ${network}, ${first.at}, ${last}, ${endsAt}, ${same.length})
      on conflict ("first", "writer") do update set
        "id" = excluded."id", "last" = excluded."last", "count" = "_RepeatedDenial"."count" + excluded."count"`;
  });
}

/** Returns the query that selects a denial if it was committed, as an entry or as the first of an addition. */
export function findDenial({ entry: { id, at } }: CountableDenial): Query {
  return sql`
    select 1 as "found" from "_Decision" where "id" = ${id} and "at" = ${at}
    union all select 1 as "found" from "_RepeatedDenial" where "id" = ${id}`;
}
