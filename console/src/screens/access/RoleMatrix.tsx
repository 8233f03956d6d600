import { Select, Stack } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import type { Draft } from '../../api/draft.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { accessTexts as texts } from '../../texts/access.ts';
import { PermissionGrid } from './PermissionGrid.tsx';
import { rolePermissionsQuery } from './queries.ts';
import type { AccessSearch } from './search.ts';

/** Properties of a tab. */
export interface AccessTabProps {
  readonly catalogue: Schemas['admin.Catalogue'];
  readonly search: AccessSearch;
  /** The draft to compare with; undefined for the policies in force alone. */
  readonly draft: Draft | undefined;
  onChange(search: AccessSearch): void;
}

/** The actions that the policies allow each role on a resource. */
export function RoleMatrix({ catalogue, search, draft, onChange }: AccessTabProps) {
  const resource = search.resource ?? catalogue.definitions.find(({ name }) => name !== 'User')?.name ?? 'User';
  const answers = useQueries({
    queries: catalogue.roles.map((role) => rolePermissionsQuery(role, resource)),
  });
  const drafted = useQueries({
    queries: draft === undefined ? [] : catalogue.roles.map((role) => rolePermissionsQuery(role, resource, draft)),
  });
  const failed = [...answers, ...drafted].find(({ error }) => error !== null);
  return (
    <Stack>
      <Select
        label={texts.resource}
        searchable
        allowDeselect={false}
        maw={300}
        data={catalogue.definitions.map(({ name }) => name)}
        value={resource}
        onChange={(name) => name !== null && onChange({ resource: name })}
      />
      {failed && <ProblemAlert error={failed.error} onRetry={failed.refetch} />}
      <PermissionGrid
        label={texts.matrixLabel(resource)}
        heading={texts.role}
        actions={catalogue.ruleActions}
        rows={catalogue.roles.map((name, index) => ({
          name,
          permissions: answers[index]?.data ?? [],
          isLoading: answers[index]?.isLoading ?? false,
          ...(draft && { drafted: drafted[index]?.data ?? [] }),
        }))}
        questionOf={(role, { action }) => ({ role, resource, action })}
      />
    </Stack>
  );
}
