import {
  DEFAULT_PRIORITY,
  type Policy,
  type PolicyImport,
  type RolePolicy,
  type RuleInput,
  type UserPolicy,
} from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import type { Resource } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { idList } from '../table-names.ts';
import {
  type AssignmentOf,
  type AuthoredChange,
  isInForce,
  loadRolePolicies,
  loadUserPolicies,
  newAssignment,
  type RolePair,
  toAssignmentKey,
  type UserPair,
  withChange,
} from './assignment-records.ts';
import { lockUsers } from './existing-users.ts';
import { requireUnmanaged, requireUnmanagedAssignment } from './managed-policies.ts';
import { type HistoryKind, storeVersions, type VersionChange } from './policy-history.ts';
import { type Author, changedPolicy, loadPolicies, newPolicy, type PolicyDraft } from './policy-records.ts';
import { deleteFrom, POLICY_TABLES, ROWS_PER_STATEMENT, requireIntactRows, writeAll } from './policy-tables.ts';
import { advanceRevision, lockPolicies } from './revision.ts';

/** The numbers of policies and assignments that an import created, changed or left unchanged. */
export interface ImportedPolicies {
  readonly created: number;
  readonly updated: number;
  /** Policies that equal the existing ones. */
  readonly unchanged: number;
  /** Assignments that were created or changed. */
  readonly assigned: number;
}

/** An assignment that an import creates or changes. */
export interface ImportedAssignment {
  /** Name of the policy. */
  readonly policy: string;
  /** Undefined if the import creates the assignment. */
  readonly before: UserPolicy | RolePolicy | undefined;
  readonly after: UserPolicy | RolePolicy;
}

/** The author of an import, and the time that it may take. */
interface ImportAuthor extends Author {
  /** Maximum milliseconds in which the import writes, because all other requests of SQLite wait meanwhile; no limit if absent. */
  readonly milliseconds?: number | undefined;
}

/**
 * Creates or updates policies by name and assigns them, all in one revision, or in none if nothing changes. Assignments that are not listed
 * stay. Uses few statements, however many policies there are. Throws USER_UNKNOWN, STORAGE_DAMAGED, POLICY_MANAGED, REQUEST_BUDGET.
 */
export async function importPolicies(
  tx: Transaction,
  imports: readonly PolicyImport[],
  { milliseconds, ...author }: ImportAuthor,
): Promise<ImportedPolicies & Pick<ImportDraft, 'assignments'>> {
  const began = performance.now();
  const requireTime = (): void => {
    if (milliseconds === undefined || performance.now() - began <= milliseconds) return;
    throw new Problem('REQUEST_BUDGET', `the import takes more than the ${milliseconds} ms (adminMilliseconds) that it may write`, {
      hint: 'divide the policies among several imports',
    });
  };
  const drafted = await draftImport(tx, imports, author);
  const { policies, users, roles } = drafted;
  if (policies.length + users.length + roles.length > 0)
    await writeImport(tx, drafted, { ...author, revision: await advanceRevision(tx), requireTime });
  return { ...drafted.done, assignments: drafted.assignments };
}

/** Locks what an import changes, and returns the rows to write. Throws USER_UNKNOWN, STORAGE_DAMAGED, POLICY_MANAGED. */
export async function draftImport(tx: Transaction, imports: readonly PolicyImport[], author: Author): Promise<ImportDraft> {
  // The row locks prevent a concurrent deletion of the users, which would leave these assignments behind. The deletion of a user also takes
  // this lock first, so the two cannot deadlock.
  const unknown = await lockUsers(tx, usersOf(imports));
  if (unknown.size > 0) throw new Problem('USER_UNKNOWN', 'no user has this id');
  await lockPolicies(tx);
  return draft(imports, await loadExisting(tx, imports), { by: author.by, now: tx.now });
}

function usersOf(imports: readonly PolicyImport[]): readonly string[] {
  return [...new Set(imports.flatMap(({ users }) => users.map(({ userId }) => userId)))];
}

/** The existing policies and assignments that an import names. */
interface ExistingPolicies {
  /** The policies by name. */
  readonly policies: ReadonlyMap<string, Policy>;
  /** The assignments of those policies to the named users, by `toAssignmentKey`. */
  readonly users: ReadonlyMap<string, UserPolicy>;
  readonly roles: ReadonlyMap<string, RolePolicy>;
}

async function loadExisting(tx: Transaction, imports: readonly PolicyImport[]): Promise<ExistingPolicies> {
  const names = imports.map(({ policy }) => policy.name);
  const policies = names.length === 0 ? [] : await loadPolicies(tx, sql`"name" IN ${idList(tx.dialect, names)}`);
  const ids = policies.map(({ id }) => id);
  const userIds = usersOf(imports);
  const ofThese = sql`"policyId" IN ${idList(tx.dialect, ids)}`;
  const ofUsers = sql`${ofThese} AND "userId" IN ${idList(tx.dialect, userIds)}`;
  if (ids.length > 0 && userIds.length > 0) await requireIntactRows(tx, POLICY_TABLES.userPolicy, ofUsers);
  if (ids.length > 0) await requireIntactRows(tx, POLICY_TABLES.rolePolicy, ofThese);
  return {
    policies: new Map(policies.map((policy) => [policy.name, policy])),
    users: byKey(ids.length === 0 || userIds.length === 0 ? [] : await loadUserPolicies(tx, ofUsers)),
    roles: byKey(ids.length === 0 ? [] : await loadRolePolicies(tx, ofThese)),
  };
}

function byKey<Assignment extends UserPair | RolePair>(assignments: readonly Assignment[]): Map<string, Assignment> {
  return new Map(assignments.map((assignment) => [toAssignmentKey(assignment), assignment]));
}

/** The rows that an import writes, without their revision. */
export interface ImportDraft {
  readonly policies: readonly PolicyDraft[];
  readonly users: readonly UserPolicy[];
  readonly roles: readonly RolePolicy[];
  readonly done: ImportedPolicies;
  readonly assignments: readonly ImportedAssignment[];
  /** Names of the policies that the admin API managed, and files manage from now on. */
  readonly adopted: readonly string[];
}

interface Authored extends Author {
  readonly now: number;
}

function draft(imports: readonly PolicyImport[], known: ExistingPolicies, author: Authored): ImportDraft {
  const done = { created: 0, updated: 0, unchanged: 0, assigned: 0 };
  const policies: PolicyDraft[] = [];
  const adopted: string[] = [];
  const names = new Map<string, string>();
  const [users, roles] = [createDrafts(known.users, author), createDrafts(known.roles, author)];
  for (const { policy: input, file, ...held } of imports) {
    const mark = file === undefined ? undefined : ({ managedBy: 'files', file } as const);
    const existing = known.policies.get(input.name);
    const rules = existing === undefined ? input.rules : withKnownIds(input.rules, existing);
    const isSame = existing !== undefined && hasSameMembers({ ...input, rules, ...mark }, existing);
    if (existing !== undefined && !isSame && mark === undefined) requireUnmanaged(existing);
    if (existing !== undefined && existing.managedBy === undefined && mark !== undefined) adopted.push(existing.name);
    const policy: PolicyDraft =
      existing === undefined
        ? { ...newPolicy(input, author), ...mark }
        : isSame
          ? existing
          : { ...changedPolicy(existing, { ...input, rules }, author.now), ...mark };
    done[existing === undefined ? 'created' : isSame ? 'unchanged' : 'updated']++;
    if (!isSame) policies.push(policy);
    const policyId = policy.id;
    names.set(policyId, input.name);
    // A file states its assignments completely, so a priority that it omits is the default. Without `isActive`, an assignment is renewed.
    const stated = mark && { priority: DEFAULT_PRIORITY, managedBy: mark.managedBy };
    for (const { role, ...change } of held.roles) if (roles.assign({ policyId, role }, { ...stated, ...change })) done.assigned++;
    for (const { userId, ...change } of held.users) if (users.assign({ policyId, userId }, change)) done.assigned++;
  }
  const written = { users: users.changed(), roles: roles.changed() };
  const assignments = [...written.roles, ...written.users].map((after) => {
    const key = toAssignmentKey(after);
    return { policy: names.get(after.policyId) ?? '', before: known.roles.get(key) ?? known.users.get(key), after };
  });
  return { policies, ...written, done, assignments, adopted };
}

interface Drafts<Pair extends UserPair | RolePair> {
  /** Adds an assignment that is new or changed. Returns false if the existing assignment stays the same. */
  assign(pair: Pair, change: Omit<AuthoredChange, 'by'>): boolean;
  changed(): readonly AssignmentOf<Pair>[];
}

/** Creates a collection of the assignments that an import creates or changes; `stored` has the existing ones by `toAssignmentKey`. */
function createDrafts<Assignment extends UserPolicy | RolePolicy>(
  stored: ReadonlyMap<string, Assignment>,
  { by, now }: Authored,
): Drafts<Assignment extends UserPolicy ? UserPair : RolePair> {
  type Pair = Assignment extends UserPolicy ? UserPair : RolePair;
  const changed = new Map<string, AssignmentOf<Pair>>();
  return {
    assign(pair, change) {
      const key = toAssignmentKey(pair);
      const existing = changed.get(key) ?? (stored.get(key) as AssignmentOf<Pair> | undefined);
      const fresh = newAssignment(pair, { ...change, by }, { now, ended: existing });
      // Renews an ended assignment like the assign endpoint: members that the file omits get their defaults.
      const isRenewed = existing !== undefined && !isInForce(existing, now) && isInForce(fresh, now);
      if (existing !== undefined && !isRenewed && isUnchanged(change, existing)) return false;
      if (existing !== undefined && change.managedBy === undefined) requireUnmanagedAssignment(existing);
      changed.set(key, existing === undefined || isRenewed ? fresh : withChange(existing, { ...change, by }));
      return true;
    },
    changed: () => [...changed.values()],
  };
}

/** Returns true if an imported assignment equals the existing one. Ignores `assignedBy`, and treats an expiry of null like an absent one. */
function isUnchanged({ assignedBy: _, ...change }: Omit<AuthoredChange, 'by'>, existing: UserPolicy | RolePolicy): boolean {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  return hasSameMembers(Object.fromEntries(given.map(([name, value]) => [name, value ?? undefined])), existing);
}

/** The change that an import makes. */
interface ImportChange extends VersionChange {
  /** Throws if the time of the import is up; called between statements. */
  readonly requireTime?: () => void;
}

/** Writes the rows of an import, at a revision that the caller has created. */
export async function writeImport(
  tx: Transaction,
  draft: Pick<ImportDraft, 'policies' | 'users' | 'roles'>,
  { requireTime = () => undefined, ...change }: ImportChange,
): Promise<void> {
  const version = change.revision;
  const policies = draft.policies.map((policy): Policy => ({ ...policy, version }));
  const users = draft.users.map((assignment) => ({ ...assignment, version }));
  const roles = draft.roles.map((assignment) => ({ ...assignment, version }));
  const rules = policies.flatMap((policy) => policy.rules.map((rule, position) => ({ ...rule, position })));
  const write = async (table: Resource, values: readonly object[]): Promise<void> => {
    for (const slice of slicesOf(values, requireTime)) await writeAll(tx, table, slice);
  };
  const store = async (kind: HistoryKind, values: readonly (Policy | UserPolicy | RolePolicy)[]): Promise<void> => {
    for (const slice of slicesOf(values, requireTime)) await storeVersions(tx, slice.map(versionOf), { kind, ...change });
  };
  if (policies.length > 0) {
    await write(POLICY_TABLES.policy, policies);
    await deleteFrom(tx, POLICY_TABLES.rule, sql`"policyId" IN ${idList(tx.dialect, policies.map(idOf))}`);
  }
  await write(POLICY_TABLES.rule, rules);
  await write(POLICY_TABLES.userPolicy, users);
  await write(POLICY_TABLES.rolePolicy, roles);
  await store('policy', policies);
  await store('userPolicy', users);
  await store('rolePolicy', roles);
}

/** Yields the items in slices of the rows of one statement, and checks the time before each. */
function* slicesOf<Item>(items: readonly Item[], requireTime: () => void): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += ROWS_PER_STATEMENT) {
    requireTime();
    yield items.slice(at, at + ROWS_PER_STATEMENT);
  }
}

function idOf({ id }: Policy): string {
  return id;
}

function versionOf(value: Policy | UserPolicy | RolePolicy) {
  const { id } = value;
  const policyId = 'policyId' in value ? value.policyId : id;
  return { id, policyId, value, ...('userId' in value && { userId: value.userId }) };
}

/** Reuses the id of an existing rule with the same content, because audit entries refer to it. */
function withKnownIds(rules: readonly RuleInput[], { rules: known }: Policy): readonly RuleInput[] {
  const free = new Set(known);
  return rules.map((rule) => {
    const same = [...free].find((each) => hasSameMembers(rule, each));
    if (same === undefined) return rule;
    free.delete(same);
    return { ...rule, id: same.id };
  });
}

/** Returns whether `stored` has the same values as `given` in each member of `given`. Ignores `createdBy`; compares rules in order. */
function hasSameMembers(given: object, stored: object): boolean {
  const members = new Map(Object.entries(stored));
  return Object.entries(given).every(([name, value]) => {
    const kept: unknown = members.get(name);
    if (name === 'createdBy') return true;
    if (name !== 'rules') return JSON.stringify(value) === JSON.stringify(kept);
    const [rules, others] = [value as readonly object[], kept as readonly object[]];
    return rules.length === others.length && rules.every((rule, index) => hasSameMembers(rule, others[index] ?? {}));
  });
}
