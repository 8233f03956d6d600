import { Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import { catalogueQuery } from '../../api/queries.ts';
import { WITHOUT_TOKEN } from '../../api/role-names.ts';
import { AssignmentState } from '../../components/AssignmentState.tsx';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { Page } from '../../components/Page.tsx';
import { PolicyLink } from '../../components/PolicyLink.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { rolesTexts as texts } from '../../texts/roles.ts';

type Role = Schemas['admin.RolePolicy']['role'];

/** The roles of the project: who has each of them, and the policies that are assigned to it. */
export function RolesScreen() {
  const catalogue = useQuery(catalogueQuery);
  return (
    <Page title={texts.title} description={texts.description}>
      <QueryState query={catalogue} lines={6}>
        {({ roles, userRoles }) => (
          <DataTable label={texts.title} columns={columnsOf(new Set(userRoles))} items={roles as readonly Role[]} idOf={(role) => role} />
        )}
      </QueryState>
    </Page>
  );
}

function columnsOf(userRoles: ReadonlySet<string>): readonly Column<Role>[] {
  return [
    { key: 'role', title: texts.columns.role, width: 260, render: (role) => <RoleName role={role} /> },
    { key: 'policies', title: texts.columns.policies, render: (role) => <RolePolicies role={role} /> },
    {
      key: 'more',
      title: texts.columns.more,
      width: 330,
      render: (role) => (
        <Group gap="sm">
          {userRoles.has(role) && role !== WITHOUT_TOKEN && (
            <TextLink to="/users" search={{ role }} size="sm">
              {texts.users}
            </TextLink>
          )}
          <TextLink to="/assignments" search={{ role }} size="sm">
            {texts.assignments}
          </TextLink>
          <TextLink to="/decisions" search={{ role }} size="sm">
            {texts.decisions}
          </TextLink>
        </Group>
      ),
    },
  ];
}

function RoleName({ role }: { readonly role: Role }) {
  const note = texts.notes[role as keyof typeof texts.notes] as string | undefined;
  return (
    <>
      <Text size="sm" fw={600} span>
        {role}
      </Text>
      {note !== undefined && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </>
  );
}

/** The policies that are assigned to a role, with their state and priority. */
function RolePolicies({ role }: { readonly role: Role }) {
  const policies = useQuery({
    queryKey: ['policies', 'of role', role],
    queryFn: async ({ signal }) =>
      (await bodyOf(client.GET('/admin/api/roles/{role}/policies', { params: { path: { role } }, signal }))).data,
  });
  return (
    <QueryState query={policies} lines={1}>
      {(items) =>
        items.length === 0 ? (
          <Text size="sm" c="dimmed">
            {texts.none}
          </Text>
        ) : (
          <Stack gap={4}>
            {items.map(({ id, name, isActive, assignment }) => (
              <Group key={assignment.id} gap="xs">
                <PolicyLink id={id} size="sm">
                  {name}
                </PolicyLink>
                <AssignmentState isActive={isActive && assignment.isActive} />
                <Text size="xs" c="dimmed">
                  {'priority' in assignment && texts.priority(assignment.priority)}
                </Text>
              </Group>
            ))}
          </Stack>
        )
      }
    </QueryState>
  );
}
