import type { AssignmentCache } from './assignment-cache.ts';
import type { DamageLog } from './damage-log.ts';
import type { Loaded, Snapshot } from './load-snapshot.ts';
import type { KeptSnapshot } from './role-policies.ts';

/** Keeps the snapshot of the newest revision that the process has read. */
export interface NewestSnapshot extends KeptSnapshot {
  /** Returns the snapshot; undefined before a revision is read, and after `clear`. */
  current(): Snapshot | undefined;
  /** Returns the number of the newest revision; undefined before a revision is read. */
  revision(): number | undefined;
  /** Replaces the snapshot, unless a concurrent transaction has replaced `base` by a newer one. */
  replace(base: Snapshot | undefined, loaded: Loaded): void;
  clear(): void;
}

/** Creates it without a snapshot. A new revision also moves the cache and replaces the list of damaged rows. */
export function createNewestSnapshot(cache: AssignmentCache, damages: DamageLog): NewestSnapshot {
  let [current, newest]: [Snapshot?, number?] = [];
  return {
    current: () => current,
    revision: () => newest,
    latestOf: (snapshot) => (current?.revision.stamp === snapshot.revision.stamp ? current : snapshot),
    replace(base, { snapshot, changed }) {
      if (current !== base) return;
      [current, newest] = [snapshot, snapshot.revision.number];
      cache.moveTo(snapshot.revision, changed);
      damages.replace(snapshot.policies.damaged);
    },
    keep(completed) {
      if (current?.revision.stamp !== completed.revision.stamp) return;
      current = completed;
      damages.replace(completed.policies.damaged);
    },
    clear() {
      current = undefined;
    },
  };
}
