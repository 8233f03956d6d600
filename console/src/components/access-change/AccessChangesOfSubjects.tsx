import { Text } from '@mantine/core';
import type { Assignment } from '../../api/policies.ts';
import { accessChangeTexts as texts } from '../../texts/access-change.ts';
import { AccessChanges, type ComparedDraft } from './AccessChanges.tsx';
import type { Subject } from './queries.ts';

/** Properties of the changes for several users and roles. */
export interface AccessChangesOfSubjectsProps extends ComparedDraft {
  readonly assignments: readonly (Assignment & { readonly name: string })[];
  /** True if there are more assignments than these. */
  readonly isMore?: boolean;
}

/** Maximum number of users and roles that are compared: each takes two requests. */
const SHOWN = 5;

/** The permissions that a draft changes for the users and roles of assignments, roles first. */
export function AccessChangesOfSubjects({ assignments, isMore = false, ...compared }: AccessChangesOfSubjectsProps) {
  const subjects = subjectsOf(assignments);
  return (
    <>
      {subjects.slice(0, SHOWN).map((subject) => (
        <AccessChanges key={`${subject.kind} ${subject.id}`} subject={subject} {...compared} />
      ))}
      {subjects.length > SHOWN && <Text size="sm">{texts.more(subjects.length - SHOWN, isMore)}</Text>}
    </>
  );
}

function subjectsOf(assignments: AccessChangesOfSubjectsProps['assignments']): readonly Subject[] {
  const subjects = assignments.map(
    ({ role, userId = '', name }): Subject => (role === undefined ? { kind: 'user', id: userId, name } : { kind: 'role', id: role, name }),
  );
  const unique = new Map(subjects.map((subject) => [`${subject.kind} ${subject.id}`, subject]));
  return [...unique.values()].toSorted((a, b) => Number(a.kind === 'user') - Number(b.kind === 'user'));
}
