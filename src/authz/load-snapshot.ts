/** Loads the policies and assignments of a revision. */
import { Problem } from '../errors.ts';
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
import type { AssignmentCache, ChangedObjects, UserAssignments } from './assignment-cache.ts';
import {
  changePolicies,
  compilePolicies,
  missingPolicies,
  type PolicyLimits,
  type PolicySnapshot,
  type PolicyState,
  toNeededChanges,
  unchangedState,
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

/** A new snapshot, and the users and policies that it changes; everything if `changed` is undefined. */
export interface Loaded {
  readonly snapshot: Snapshot;
  readonly changed: ChangedObjects | undefined;
}

/** The revision to load, and the snapshot of an earlier one. */
interface LoadQuery {
  readonly revision: Revision;
  readonly base: Snapshot | undefined;
}

/** The components and options of a load. */
interface LoadDeps {
  /** The definitions in force. A load replaces them by those that another process has stored. */
  readonly held: { definitions: Definitions };
  readonly options: SnapshotOptions;
  readonly cache: AssignmentCache;
}

/** Limits of policies, and the number of policies of roles up to which all are loaded at once. */
export interface SnapshotOptions extends PolicyLimits {
  /** Others than the default are for tests. */
  readonly loadedAtOnce?: number | undefined;
}

/** Loads the snapshot of a revision: only the changes since `base` if the policy history has them; otherwise everything. */
export async function loadSnapshotOf(tx: Transaction, { revision, base }: LoadQuery, deps: LoadDeps): Promise<Loaded> {
  const { held, cache } = deps;
  // Sent together: a change of policies is much more frequent than one of the definitions.
  const [others, changes] = await Promise.all([
    loadOtherDefinitions(tx, held.definitions),
    isUsable(base, held.definitions) ? loadNeededChanges(tx, base, revision) : undefined,
  ]);
  // The definitions may have been replaced meanwhile.
  if (others === undefined && changes !== undefined && isUsable(base, held.definitions))
    return { snapshot: toSnapshot(changePolicies(base.policies, changes), revision, cache), changed: changes };
  held.definitions = others ?? held.definitions;
  const loaded = await loadState(tx, revision, deps);
  return { snapshot: toSnapshot(loaded.policies, loaded.revision, cache), changed: undefined };
}

/** Maximum loads of the whole state. Another load follows only if the changes since the last one cannot be applied to it. */
const MAX_LOADS = 10;

/** Policies, and the revision at which they are in force. */
interface LoadedState {
  readonly policies: PolicySnapshot;
  readonly revision: Revision;
}

/**
 * Loads the whole state. Its statements have read one state only if the revision is the same after them. Otherwise the changes since the first statement
 * replace the rows that they concern. To load everything again instead could repeat without end, if policies change during each load.
 *
 * @throws Problem STORAGE_BUSY if the changes could not be applied to any of ten loads
 */
async function loadState(tx: Transaction, revision: Revision, { held, options }: LoadDeps): Promise<LoadedState> {
  let before = revision;
  for (let loads = 0; loads < MAX_LOADS; loads++) {
    const { definitions } = held;
    const state = await loadPolicyState(tx, options);
    const now = await loadRevision(tx);
    if (now.stamp === before.stamp) return { policies: compilePolicies(state, definitions, options), revision: now };
    const [others, changes] = await Promise.all([loadOtherDefinitions(tx, definitions), loadChanges(tx, before, now)]);
    if (others !== undefined) held.definitions = others;
    else if (changes !== undefined) {
      const policies = await applyChanges(tx, state, { changes, to: now, definitions, options });
      if (policies !== undefined) return { policies, revision: now };
    }
    before = now;
  }
  throw new Problem('STORAGE_BUSY', 'policies changed each time while they were loaded', { retryAfter: 1 });
}

/** Changes up to a revision. */
interface ChangesTo {
  readonly changes: ChangesSince;
  readonly to: Revision;
}

/**
 * Applies changes to a state, some of whose rows may belong to them. Returns undefined if a policy that a role gets is damaged, or if the revision
 * changed while such a policy was loaded.
 */
async function applyChanges(
  tx: Transaction,
  state: PolicyState,
  { definitions, options, ...of }: ChangesTo & { readonly definitions: Definitions; readonly options: SnapshotOptions },
): Promise<PolicySnapshot | undefined> {
  const base = compilePolicies(unchangedState(state, of.changes), definitions, options);
  const needed = await addMissingPolicies(tx, base, of);
  return needed && changePolicies(base, needed);
}

/**
 * Loads the changes that a snapshot needs to reach a revision, with the policies that roles get and that the snapshot does not have. Returns
 * undefined if the whole state has to be loaded: the history does not have the changes, a policy is damaged, or the revision changed meanwhile.
 */
async function loadNeededChanges(tx: Transaction, base: Snapshot, to: Revision): Promise<ChangesSince | undefined> {
  const changes = await loadChanges(tx, base.revision, to);
  return changes && addMissingPolicies(tx, base.policies, { changes, to });
}

/**
 * Adds the policies that roles get and that a snapshot does not have to changes up to a revision, and leaves out what the snapshot does not
 * need. Returns undefined if a policy is damaged or the revision changed meanwhile.
 */
export async function addMissingPolicies(
  tx: Transaction,
  before: PolicySnapshot,
  { changes, to }: ChangesTo,
): Promise<ChangesSince | undefined> {
  const missing = missingPolicies(before, changes);
  if (missing.length === 0) return toNeededChanges(before, changes);
  const { policies, damaged } = await loadCheckedPolicies(tx, missing);
  const now = await loadRevision(tx);
  if (damaged.length > 0 || now.stamp !== to.stamp) return undefined;
  return toNeededChanges(before, { ...changes, policies: new Map([...policies, ...changes.policies]) });
}

/** Returns whether changes can be applied to a snapshot. They cannot if it has damaged rows: a change of such a row would not remove the policy that takes its place. */
function isUsable(base: Snapshot | undefined, definitions: Definitions): base is Snapshot {
  return base?.definitions === definitions && base.policies.damaged.length === 0;
}

function toSnapshot(policies: PolicySnapshot, revision: Revision, cache: AssignmentCache): Snapshot {
  const { definitions } = policies.compileOptions;
  const user = definitions.get('User');
  if (user === undefined) throw new Error('the definition of User is built in and cannot be absent');
  return Object.freeze({ revision, definitions, policies, assignments: cache.at({ revision, policies: policies.policies }), user });
}
