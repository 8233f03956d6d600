/**
 * The policies, assignments and definitions in force. A transaction gets the snapshot of the revision that it reads first, so a
 * revoke that has committed applies to every transaction that begins after it.
 */
import { memoize } from '../memoize.ts';
import type { Definitions, Resource } from '../resources/index.ts';
import {
  type ChangesSince,
  loadChanges,
  loadCheckedPolicies,
  loadOtherDefinitions,
  loadPolicyState,
  loadRevision,
  type Revision,
  type Transaction,
} from '../storage/index.ts';
import { type AssignmentCache, type ChangedObjects, createAssignmentCache, type UserAssignments } from './assignment-cache.ts';
import { createDamageLog } from './damage-log.ts';
import {
  changePolicies,
  compilePolicies,
  type DamagedRow,
  missingPolicies,
  type PolicyLimits,
  type PolicySnapshot,
  type PolicyState,
  toNeededChanges,
} from './policies/index.ts';

/** Definitions, policies and assignments at one revision. Frozen. */
export interface Snapshot {
  readonly revision: Revision;
  readonly definitions: Definitions;
  readonly policies: PolicySnapshot;
  readonly assignments: UserAssignments;
  /** The definition of `User`, which `user.…` in conditions refers to. */
  readonly user: Resource;
}

/** Keeps the snapshot of the newest revision read. */
export interface PolicyStore {
  /** Returns the snapshot of the current revision, read once per transaction, and adds the revision to the read set of `tx`. */
  snapshot(tx: Transaction): Promise<Snapshot>;
  /** Returns the snapshot of the revision that `tx` has read, as `snapshot` does. A promise if it has to be loaded. */
  snapshotOf(tx: Transaction, revision: Revision): Snapshot | Promise<Snapshot>;
  /** Returns the snapshot as changed by `tx` itself. It is not kept, because `tx` may be rolled back. */
  snapshotAfterChange(tx: Transaction): Promise<Snapshot>;
  /**
   * Replaces the definitions and drops the snapshot, because rules are compiled against definitions. `migrate` calls it in the transaction
   * that changes the tables.
   */
  replaceDefinitions(definitions: Definitions): void;
  readonly definitions: Definitions;
  /** Returns the number of the newest revision read; undefined before a revision is read. */
  revision(): number | undefined;
  /** Returns the damaged policies and assignments that were found at that revision. */
  damaged(): readonly DamagedRow[];
}

/** Limits of the policy store. */
export interface PolicyStoreOptions extends PolicyLimits {
  /** Maximum number of users and assignments in the assignment cache, and of policies and rules that only users have. */
  readonly maxAssignments: number;
  /** Called once for each damaged row that is found, until it is repaired. */
  readonly onDamage?: ((row: DamagedRow) => void) | undefined;
}

/** A new snapshot, and the users and policies that it changes; everything if `changed` is undefined. */
interface Loaded {
  readonly snapshot: Snapshot;
  readonly changed: ChangedObjects | undefined;
}

/** Creates the policy store. Policies are loaded with the first transaction, without the time limit of its caller: all callers need them. */
export function createPolicyStore(initial: Definitions, options: PolicyStoreOptions): PolicyStore {
  const damages = createDamageLog(options.onDamage);
  const cache = createAssignmentCache(options.maxAssignments, damages.add);
  const snapshots = new WeakMap<Transaction, Promise<Snapshot>>();
  let definitions = initial;
  let current: Snapshot | undefined;

  /** Loads only the changes since `base` if the policy history has them; otherwise everything. */
  async function load(tx: Transaction, base: Snapshot | undefined, revision: Revision): Promise<Loaded> {
    const others = await loadOtherDefinitions(tx, definitions);
    const usableBase = others === undefined && isUsable(base, definitions) ? base : undefined;
    const changes = usableBase && (await loadNeededChanges(tx, usableBase, revision));
    if (changes) return { snapshot: toSnapshot(changePolicies(usableBase.policies, changes), revision, cache), changed: changes };
    definitions = others ?? definitions;
    const { state, now } = await loadState(tx);
    if (now.stamp !== revision.stamp) return load(tx, base, now);
    return { snapshot: toSnapshot(compilePolicies(state, definitions, options), revision, cache), changed: undefined };
  }

  const snapshotOf = (tx: Transaction, revision: Revision): Snapshot | Promise<Snapshot> =>
    current?.revision.stamp === revision.stamp ? asRead(tx, current) : loadSnapshot(tx, revision, current);
  async function loadSnapshot(tx: Transaction, revision: Revision, base: Snapshot | undefined): Promise<Snapshot> {
    const { snapshot, changed } = await tx.withoutTimeLimit(() => load(tx, base, revision));
    // A concurrent transaction may have replaced `base` by a newer snapshot.
    if (current === base) {
      [current, newest] = [snapshot, snapshot.revision.number];
      cache.moveTo(snapshot.revision, changed);
      damages.replace(snapshot.policies.damaged);
    }
    return asRead(tx, snapshot);
  }

  let newest: number | undefined;
  return {
    get definitions() {
      return definitions;
    },
    revision: () => newest,
    damaged: damages.rows,
    replaceDefinitions: (next) => {
      [definitions, current] = [next, undefined];
    },
    snapshot: (tx) => memoize(snapshots, tx, async () => snapshotOf(tx, await loadRevision(tx))),
    snapshotOf,
    snapshotAfterChange: async (tx) => {
      const revision = await loadRevision(tx);
      return current?.revision.stamp === revision.stamp ? current : (await tx.withoutTimeLimit(() => load(tx, current, revision))).snapshot;
    },
  };
}

/** Adds the revision of a snapshot to the read set of a transaction. */
function asRead(tx: Transaction, snapshot: Snapshot): Snapshot {
  tx.addToReadSet({ revision: snapshot.revision.stamp, watch: snapshot.policies.watch });
  return snapshot;
}

/**
 * Loads the changes that a snapshot needs to reach a revision, with the policies that roles get and that the snapshot does not have. Returns
 * undefined if the whole state has to be loaded: the history does not have the changes, a policy is damaged, or the revision changed meanwhile.
 */
async function loadNeededChanges(
  tx: Transaction,
  { policies: before, ...base }: Snapshot,
  to: Revision,
): Promise<ChangesSince | undefined> {
  const changes = await loadChanges(tx, base.revision, to);
  if (changes === undefined) return undefined;
  const missing = missingPolicies(before, changes);
  if (missing.length === 0) return toNeededChanges(before, changes);
  const { policies, damaged } = await loadCheckedPolicies(tx, missing);
  const now = await loadRevision(tx);
  if (damaged.length > 0 || now.stamp !== to.stamp) return undefined;
  return toNeededChanges(before, { ...changes, policies: new Map([...policies, ...changes.policies]) });
}

/** Loads the state and the revision after it: several statements read one state only if the revision is the same after the last. */
async function loadState(tx: Transaction): Promise<{ readonly state: PolicyState; readonly now: Revision }> {
  return { state: await loadPolicyState(tx), now: await loadRevision(tx) };
}

/** Returns whether changes can be applied to a snapshot. They cannot if it has damaged rows: a change of such a row would not remove the policy that takes its place. */
function isUsable(base: Snapshot | undefined, definitions: Definitions): boolean {
  return base?.definitions === definitions && base.policies.damaged.length === 0;
}

function toSnapshot(policies: PolicySnapshot, revision: Revision, cache: AssignmentCache): Snapshot {
  const { definitions } = policies.compileOptions;
  const user = definitions.get('User');
  if (user === undefined) throw new Error('the definition of User is built in and cannot be absent');
  return Object.freeze({ revision, definitions, policies, assignments: cache.at({ revision, policies: policies.policies }), user });
}
