/** Changes of assignments in a batch: their schema, and the mistakes that the schema cannot find. */
import { findContextMistakes, ROLE_ASSIGNMENT_MEMBERS, USER_ASSIGNMENT_MEMBERS } from '../../authz/policies/index.ts';
import type { Issue } from '../../errors.ts';
import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import { Input, OneOf, Type, type TypeOf } from '../../schemas/index.ts';
import {
  type BatchChange,
  type BatchState,
  isInForce,
  isManagedAssignment,
  MANAGED_ASSIGNMENT,
  type RolePair,
  toAssignmentKey,
  type UserPair,
} from '../../storage/index.ts';
import { name } from '../schema-members.ts';

const { expiresAt, context, isActive } = USER_ASSIGNMENT_MEMBERS;

/** The schema of a change. */
export const ASSIGNMENT_CHANGE = Input({
  op: OneOf(['assign', 'update', 'revoke'], {
    description:
      '`assign`: creates an assignment, or renews one that is inactive or expired; `update`: changes the given members; `revoke`: removes it.',
  }),
  policyId: name('Id of the policy.'),
  userId: Type.Optional(name('Id of the user. Exactly one of `userId` and `role` is required.')),
  role: Type.Optional(OneOf(ASSIGNABLE_ROLES, { description: 'The role.' })),
  expiresAt,
  isActive,
  context,
  priority: ROLE_ASSIGNMENT_MEMBERS.priority,
  version: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 999_999_999_999, description: 'The version that the change was made for, like `If-Match`.' }),
  ),
});

/** A change of a batch in a request. */
export type GivenChange = TypeOf<typeof ASSIGNMENT_CHANGE>;

const ONLY_OF_USERS = ['expiresAt', 'context'] as const;
const ONLY_OF_ROLES = ['priority'] as const;
const MEMBERS = ['isActive', ...ONLY_OF_USERS, ...ONLY_OF_ROLES] as const;

/** Returns the mistakes in the form of changes: members that exclude each other, or that do not fit the kind of the assignment. */
export function findFormMistakes(changes: readonly GivenChange[]): readonly Issue[] {
  return changes.flatMap((change, index) => {
    const at = `changes.${index}`;
    const { op, userId, role } = change;
    if (userId === undefined && role === undefined) return [{ path: `${at}.userId`, code: 'required', detail: 'expected userId or role' }];
    if (userId !== undefined && role !== undefined)
      return [{ path: `${at}.role`, code: 'conflict', detail: 'expected userId or role, not both' }];
    const [excluded, subject] =
      op === 'revoke'
        ? [MEMBERS, 'the removal of an assignment has']
        : role === undefined
          ? [ONLY_OF_ROLES, 'assignments to users have']
          : [ONLY_OF_USERS, 'assignments to roles have'];
    return [
      ...excluded
        .filter((member) => change[member] !== undefined)
        .map((member): Issue => ({ path: `${at}.${member}`, code: 'unknown', detail: `${subject} no ${member}` })),
      ...findContextMistakes(change.context === undefined ? {} : { context: change.context }).map((issue) => ({
        ...issue,
        path: `${at}.${issue.path}`,
      })),
    ];
  });
}

/** The stored state that changes are validated with. */
interface BatchContext {
  readonly state: BatchState;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Returns the mistakes of changes that contradict each other or the stored policies, users and assignments. */
export function findBatchMistakes(changes: readonly BatchChange[], context: BatchContext): readonly Issue[] {
  const firsts = new Map<string, number>();
  return changes.flatMap((change, index): readonly Issue[] => {
    const at = `changes.${index}`;
    const key = toAssignmentKey(change.pair);
    const first = firsts.get(key);
    if (first !== undefined) return [{ path: at, code: 'duplicate', detail: `changes.${first} changes the same assignment` }];
    firsts.set(key, index);
    return findStateMistakes(change, context).map((issue) => ({ ...issue, path: `${at}.${issue.path}` }));
  });
}

function findStateMistakes({ op, pair }: BatchChange, { state, now }: BatchContext): readonly Issue[] {
  const mistakes: Issue[] = [];
  if (!state.policies.has(pair.policyId)) mistakes.push({ path: 'policyId', code: 'reference', detail: 'no policy has this id' });
  if ('userId' in pair && state.unknownUsers.has(pair.userId))
    mistakes.push({ path: 'userId', code: 'reference', detail: 'no user has this id' });
  if (mistakes.length > 0) return mistakes;
  const stored = state.find(pair);
  const { path, assignee } = describeAssignee(pair);
  if (op !== 'assign')
    return stored === undefined ? [{ path, code: 'reference', detail: `the policy is not assigned to this ${assignee}` }] : [];
  if (stored === undefined || !isInForce(stored, now)) return [];
  return [{ path, code: 'taken', detail: `the policy is assigned to this ${assignee} already: change the assignment with "update"` }];
}

function describeAssignee(pair: UserPair | RolePair): { readonly path: string; readonly assignee: string } {
  return 'userId' in pair ? { path: 'userId', assignee: 'user' } : { path: 'role', assignee: 'role' };
}

/** Returns a mistake for each change of an assignment that files manage. */
export function findManagedAssignments(changes: readonly BatchChange[], { find }: Pick<BatchState, 'find'>): readonly Issue[] {
  return changes.flatMap(({ pair }, index) => {
    const stored = find(pair);
    if (stored === undefined || !isManagedAssignment(stored)) return [];
    return [{ path: `changes.${index}.role`, code: 'POLICY_MANAGED' as const, detail: MANAGED_ASSIGNMENT }];
  });
}

/** The version that a change names, and the version of the stored assignment. */
interface Versions {
  readonly given: number | undefined;
  readonly stored: number | undefined;
}

/** Returns a mistake for each change that was made for another version than the stored one. */
export function findStaleVersions(versions: readonly Versions[]): readonly Issue[] {
  return versions.flatMap(({ given, stored }, index) => {
    if (given === undefined || given === stored) return [];
    const now = stored === undefined ? 'there is no assignment' : `the assignment is at version ${stored}`;
    return [{ path: `changes.${index}.version`, code: 'RECORD_VERSION' as const, detail: `${now}, the change names version ${given}` }];
  });
}

/** Returns a mistake for each change of a stored assignment that names no version. */
export function findMissingVersions(versions: readonly Versions[]): readonly Issue[] {
  return versions.flatMap(({ given, stored }, index) => {
    if (given !== undefined || stored === undefined) return [];
    const detail = 'expected the version of the assignment to change, none was given';
    return [{ path: `changes.${index}.version`, code: 'RECORD_VERSION_REQUIRED' as const, detail }];
  });
}
