/** Warnings of access tests: that a test may differ from the intention of the admin, or that an allowed request may still fail. */
import { CREATES_RECORD } from '../../actions.ts';
import { isAssignableRole } from '../../authz/policies/index.ts';
import { didYouMean, type Issue } from '../../errors.ts';
import { ASSIGNABLE_ROLES, type Resource } from '../../resources/index.ts';
import type { AccessTest, SimulatedAccess } from './access-simulation.ts';

/** Maximum number of unknown fields with a suggestion: each suggestion compares the name with every field. */
export const MAX_SUGGESTIONS = 10;

/** Maximum number of mistakes in a warning. */
const MAX_WARNED = 5;

/** Warning about an inactive user. */
export const NOT_ACTIVE = 'the user is not active: every request of this user is refused, even if policies allow it';

/** Returns warnings that the test may differ from the admin's intention, or that an allowed request may still fail. */
export function warningsOfTest(test: AccessTest, simulated: SimulatedAccess, user: Resource): readonly string[] {
  return [...warningsOfUser(test, simulated, user), ...warningsOfRecord(test, simulated), ...warningsOfValues(simulated.issues)];
}

function warningsOfUser(
  { userId, hypothesis }: AccessTest,
  { principal, stored, isActive }: SimulatedAccess,
  user: Resource,
): readonly string[] {
  const given = hypothesis.user ?? {};
  const isUnknown = userId !== undefined && stored.user === undefined && given['role'] === undefined;
  const { role } = principal;
  const names = [...user.fields.keys()];
  const unknown = Object.keys(given).filter((name) => !user.fields.has(name));
  const near = unknown.slice(0, MAX_SUGGESTIONS).flatMap((name) => {
    const meant = didYouMean(name, names);
    return meant === '' ? [] : [`User has no field "${name.slice(0, 64)}"${meant}`];
  });
  return [
    ...(isUnknown ? ['no user has this id: without "user.role", the role is anon'] : []),
    ...(isActive ? [] : [NOT_ACTIVE]),
    ...(isAssignableRole(role) ? [] : [`no policy can be assigned to role "${role.slice(0, 64)}"${didYouMean(role, ASSIGNABLE_ROLES)}`]),
    ...near,
  ];
}

function warningsOfRecord(
  { resource, recordId, isRestore, hypothesis, action }: AccessTest,
  { stored }: SimulatedAccess,
): readonly string[] {
  const given = Object.keys(hypothesis.resource ?? {}).filter((name) => name !== 'id');
  if (recordId === undefined || stored.record !== undefined || CREATES_RECORD.has(action) || given.length > 0) return [];
  return [`no ${isRestore ? 'deleted ' : ''}${resource.name} has this id: the test uses a record without attributes`];
}

function warningsOfValues(issues: readonly Issue[]): readonly string[] {
  if (issues.length === 0) return [];
  const details = issues.slice(0, MAX_WARNED).map(({ path, detail }) => (path === '' ? detail : `${path}: ${detail}`));
  const more = issues.length > details.length ? `; and ${issues.length - details.length} more` : '';
  return [`the request would still be rejected, because its values are invalid: ${details.join('; ')}${more}`];
}
