import { didYouMean, type Issue } from '../errors.ts';
import { ASSIGNABLE_ROLES, isAssignableRole } from '../policy/index.ts';
import type { Resource } from '../resource/index.ts';
import { MAKES_RECORD } from './decide-ahead.ts';
import type { AccessTest, Tried } from './try-access.ts';

/** Mistakes in values that are told. */
const ISSUES_TOLD = 5;

/** The warning on every answer about a user who is not active. */
export const NOT_ACTIVE = 'the user is not active: no token of theirs is accepted, whatever policies say';

/** What a test would otherwise hide: that it tries out something else than was meant, or that a grant is not yet a success. */
export function warningsOfTest(test: AccessTest, tried: Tried, user: Resource): readonly string[] {
  return [...warningsOfUser(test, tried, user), ...warningsOfRecord(test, tried), ...warningsOfValues(tried.issues)];
}

function warningsOfUser({ userId, hypothesis }: AccessTest, { principal, stored, isActive }: Tried, user: Resource): readonly string[] {
  const said = hypothesis.user ?? {};
  const isUnknown = userId !== undefined && stored.user === undefined && said['role'] === undefined;
  const { role } = principal;
  const names = [...user.fields.keys()];
  const near = Object.keys(said).flatMap((name) => {
    const meant = user.fields.has(name) ? '' : didYouMean(name, names);
    return meant === '' ? [] : [`no field of User is called "${name.slice(0, 64)}"${meant}`];
  });
  return [
    ...(isUnknown ? ['no user has this id: as long as "user.role" says nothing else, the role is anon'] : []),
    ...(isActive ? [] : [NOT_ACTIVE]),
    ...(isAssignableRole(role) ? [] : [`no policy can be assigned to role "${role.slice(0, 64)}"${didYouMean(role, ASSIGNABLE_ROLES)}`]),
    ...near,
  ];
}

function warningsOfRecord({ resource, recordId, hypothesis, action }: AccessTest, { stored }: Tried): readonly string[] {
  const said = Object.keys(hypothesis.resource ?? {}).filter((name) => name !== 'name' && name !== 'id');
  if (recordId === undefined || stored.record !== undefined || MAKES_RECORD.has(action) || said.length > 0) return [];
  return [`no ${resource.name} has this id: it is a record without attributes`];
}

function warningsOfValues(issues: readonly Issue[]): readonly string[] {
  if (issues.length === 0) return [];
  const told = issues.slice(0, ISSUES_TOLD).map(({ path, detail }) => (path === '' ? detail : `${path}: ${detail}`));
  const more = issues.length > told.length ? `; and ${issues.length - told.length} more` : '';
  return [`the request would be refused for its values all the same: ${told.join('; ')}${more}`];
}
