import { Button, Group, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { catalogueQuery } from '../../api/queries.ts';
import { UserPicker } from '../../components/UserPicker.tsx';
import { assignmentsTexts, policyTexts } from '../../texts/policy.ts';
import { type AssignmentsSearch, validateAssignmentsSearch } from './assignments-search.ts';

const texts = assignmentsTexts.filters;

/** Properties of the filters. */
interface AssignmentFiltersProps {
  readonly search: AssignmentsSearch;
  onChange(search: AssignmentsSearch): void;
}

/** The filters of the list of assignments. */
export function AssignmentFilters({ search, onChange }: AssignmentFiltersProps) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const set = (change: Readonly<Record<string, unknown>>) => onChange(validateAssignmentsSearch({ ...search, ...change }));
  return (
    <Group gap="xs" align="end">
      <Select
        label={texts.role}
        placeholder={texts.any}
        w={150}
        clearable
        data={catalogue?.roles ?? []}
        value={search.role ?? null}
        // An assignment is to a role or to a user.
        onChange={(role) => set({ role, userId: undefined })}
      />
      <UserPicker
        label={texts.user}
        placeholder={texts.any}
        value={search.userId}
        onChange={(userId) => set({ userId, role: undefined })}
      />
      <Select
        label={texts.state}
        placeholder={texts.any}
        w={140}
        clearable
        data={[
          { value: 'true', label: policyTexts.assignments.active },
          { value: 'false', label: policyTexts.assignments.inactive },
        ]}
        value={search.isActive === undefined ? null : String(search.isActive)}
        onChange={(value) => set({ isActive: value === null ? undefined : value === 'true' })}
      />
      <Select
        label={texts.expires}
        placeholder={texts.any}
        w={170}
        clearable
        data={[
          { value: 'week', label: texts.week },
          { value: 'month', label: texts.month },
          { value: 'past', label: texts.past },
        ]}
        value={search.expires ?? null}
        onChange={(expires) => set({ expires })}
      />
      {Object.keys(search).length > 0 && (
        <Button variant="subtle" onClick={() => onChange({})}>
          {texts.clear}
        </Button>
      )}
    </Group>
  );
}
