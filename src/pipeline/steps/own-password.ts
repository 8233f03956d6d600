import { validatePasswordProof } from '../../authn/index.ts';
import type { Issue } from '../../errors.ts';
import { isObject, type Json, ownValue } from '../../operators/index.ts';
import type { ApiRequest } from '../../request/index.ts';
import type { StoredRecord } from '../../resources/index.ts';
import type { Proposal, RequestContext } from '../request-context.ts';

/** The member of a user's update, not a field, with the current password: proof that the caller knows the password to replace. */
const MEMBER = 'currentPassword';
const MAX_LENGTH = 200;
const CHANGES: ReadonlySet<string> = new Set(['update', 'updateIfExists']);

/** Takes the current password out of the values that an update of a user sends: no condition reads it, and no audit entry keeps it. */
export function takeCurrentPassword(request: ApiRequest): Pick<RequestContext, 'request' | 'currentPassword'> {
  const { resource, action, data } = request;
  if (resource !== 'User' || !CHANGES.has(action) || !isObject(data)) return { request };
  const currentPassword = ownValue(data, MEMBER);
  if (currentPassword === undefined) return { request };
  const others = Object.entries(data).filter(([name]) => name !== MEMBER);
  return { request: { ...request, data: Object.fromEntries(others) }, currentPassword };
}

/** Returns mistakes if the caller may not set this user's password: a policy on `update` is not enough for that. */
export function issuesOfPassword(context: RequestContext, user: StoredRecord, changed: readonly string[]): readonly Issue[] {
  const { resource, principal, currentPassword } = context;
  if (resource.name !== 'User') return [];
  const isChanged = changed.includes('password');
  const isOwn = user.id === principal.id;
  if (isChanged && isOwn) return issuesOfCurrent(currentPassword);
  const unused = currentPassword === undefined ? [] : [unusedCurrent];
  // A caller who sets the password of another user can log in as that user and has their role.
  return isChanged && principal.role !== 'admin' ? [guarded, ...unused] : unused;
}

/**
 * Checks that a user who changes their own password knows the current one. The last step before anything is stored: if all other checks
 * pass and the password is not verified yet, the request is rolled back, the password is verified, and the request runs again.
 *
 * @throws Problem IDENTITY_CURRENT_PASSWORD, IDENTITY_THROTTLED
 */
export async function checkOwnPassword(context: RequestContext, { record, values, cleared }: Proposal): Promise<void> {
  const isChanged = Object.hasOwn(values, 'password') || cleared.includes('password');
  if (context.resource.name !== 'User' || !isChanged || record.id !== context.principal.id) return;
  const proof = context.hashes.proofOf({ userId: record.id, plain: String(context.currentPassword) });
  if (proof !== undefined) await validatePasswordProof(context.tx, record.id, proof);
}

const guarded: Issue = { path: 'password', code: 'guarded', detail: 'expected no value: only the user and an admin may set it' };

const unusedCurrent: Issue = {
  path: MEMBER,
  code: 'unknown',
  detail: `expected ${MEMBER} only where users set a new password of their own`,
};

function issuesOfCurrent(given: Json | undefined): readonly Issue[] {
  if (typeof given === 'string' && given.length > 0 && given.length <= MAX_LENGTH) return [];
  const code = given === undefined ? 'required' : 'type';
  const detail = `expected ${MEMBER}, the password that is replaced, beside a new password of your own; an import cannot change it`;
  return [{ path: MEMBER, code, detail }];
}
