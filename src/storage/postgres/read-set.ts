import type { Basis, Replaced } from '../contract.ts';

/** What one work rests on and has not changed itself; and what it has changed. */
export interface ReadSet {
  /** Stamp of the epoch; undefined where it rests on none. */
  readonly epoch: string | undefined;
  /** Milliseconds since 1970; Infinity where nothing expires. */
  readonly validUntil: number;
  /** Version of each user, by id. */
  readonly users: ReadonlyMap<string, number>;
  /** Ids of logins. */
  readonly sessions: readonly string[];
  /** Whether it begins another epoch. */
  readonly begins: boolean;
  /** Users whom it has changed, or some of whose logins it has ended. */
  readonly changed: ReadonlySet<string>;
}

/** Gathers what a work rests on, as it goes. */
export interface Gathering {
  /** False where it rests on something else already: two statements of one transaction may see two states. */
  restsOn(basis: Basis): boolean;
  /** False where it rests on something else than was found. */
  replaces(replaced: Replaced): boolean;
  /** A place to go back to. */
  readonly mark: number;
  /** Undoes what was replaced since. What was rested on stays: entries are kept of what was undone, too. */
  undo(mark: number): void;
  all(): ReadSet;
}

/** Whether nobody has to be asked about it. */
export function areNone({ epoch, validUntil, users, sessions, begins, changed }: ReadSet): boolean {
  const isFree = epoch === undefined && validUntil === Number.POSITIVE_INFINITY && users.size + sessions.length === 0;
  return isFree && !begins && changed.size === 0;
}

/** Begins with nothing. */
export function createGathering(): Gathering {
  const users = new Map<string, number>();
  const sessions = new Map<string, string>();
  let epoch: string | undefined;
  let validUntil = Number.POSITIVE_INFINITY;
  /** What it has changed itself, in order, and of which user: it is held, so that nobody else can until this work commits. */
  const own = new Map<string, string | undefined>();

  function isSameEpoch(stamp: string): boolean {
    if (own.has('epoch')) return true;
    epoch ??= stamp;
    return epoch === stamp;
  }

  function isSameUser(id: string, version: number): boolean {
    if (own.has(`user ${id}`)) return true;
    const known = users.get(id) ?? version;
    users.set(id, known);
    return known === version;
  }

  function restsOn(basis: Basis): boolean {
    validUntil = Math.min(validUntil, basis.validUntil ?? validUntil);
    for (const { id, userId } of basis.sessions ?? []) sessions.set(id, userId);
    const sameUsers = (basis.users ?? []).filter(({ id, version }) => isSameUser(id, version));
    return (basis.epoch === undefined || isSameEpoch(basis.epoch)) && sameUsers.length === (basis.users ?? []).length;
  }

  return {
    restsOn,
    replaces({ sessionsOf = [], ...found }) {
      const wasSo = restsOn(found);
      if (found.epoch !== undefined) own.set('epoch', undefined);
      for (const { id } of found.users ?? []) own.set(`user ${id}`, id);
      for (const id of sessionsOf) own.set(`sessions ${id}`, id);
      return wasSo;
    },
    get mark() {
      return own.size;
    },
    undo(mark) {
      for (const key of [...own.keys()].slice(mark)) own.delete(key);
    },
    all: () => toGrounds({ epoch, validUntil, users, sessions, own }),
  };
}

interface Gathered extends Pick<ReadSet, 'epoch' | 'validUntil' | 'users'> {
  readonly sessions: ReadonlyMap<string, string>;
  readonly own: ReadonlyMap<string, string | undefined>;
}

function toGrounds({ epoch, validUntil, users, sessions, own }: Gathered): ReadSet {
  return {
    epoch: own.has('epoch') ? undefined : epoch,
    validUntil,
    users: new Map([...users].filter(([id]) => !own.has(`user ${id}`))),
    sessions: [...sessions].flatMap(([id, userId]) => (own.has(`sessions ${userId}`) ? [] : [id])),
    begins: own.has('epoch'),
    changed: new Set([...own.values()].filter((id) => id !== undefined)),
  };
}
