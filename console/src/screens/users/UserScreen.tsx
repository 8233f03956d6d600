import { Badge, Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { bodyOf, client } from '../../api/client.ts';
import { catalogueQuery } from '../../api/queries.ts';
import { loadRecord, type Row, sendRecordRequest } from '../../api/records.ts';
import { AssignmentState } from '../../components/AssignmentState.tsx';
import { ConfirmModal } from '../../components/ConfirmModal.tsx';
import { GuardedButton } from '../../components/GuardedButton.tsx';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { notifySuccess } from '../../components/notify.ts';
import { Page } from '../../components/Page.tsx';
import { Panel } from '../../components/Panel.tsx';
import { PolicyLink } from '../../components/PolicyLink.tsx';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { FieldTable } from '../../components/record-form/FieldTable.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { Time } from '../../components/Time.tsx';
import { sentence } from '../../texts/sentence.ts';
import { usersTexts } from '../../texts/service.ts';
import type { AssignPolicyDialogProps } from './AssignPolicyDialog.tsx';
import { userRoute } from './route.ts';
import { UserDialog } from './UserDialog.tsx';
import { UserSessions } from './UserSessions.tsx';
import { toListedFields } from './user-form.ts';
import { useUserRefusal } from './useUserRefusal.ts';

const texts = usersTexts.detail;

const assignDialog = createPart<AssignPolicyDialogProps>(async () => (await import('./AssignPolicyDialog.tsx')).AssignPolicyDialog);

/** A user: role, sessions, policies, and the links to permissions and decisions. */
export function UserScreen() {
  const { id } = userRoute.useParams();
  return <User key={id} id={id} />;
}

function User({ id }: { readonly id: string }) {
  const user = useQuery({ queryKey: ['users', 'record', id], queryFn: ({ signal }) => loadRecord('User', id, signal) });
  return (
    <QueryState query={user} lines={8}>
      {(row) => (
        <Page
          title={String(row['name'] ?? row['email'])}
          description={sentence`${String(row['email'])} · ${String(row['role'])}`}
          actions={<Actions user={row} />}
        >
          {row['isActive'] === false && (
            <Badge color="gray" size="lg">
              {usersTexts.inactive}
            </Badge>
          )}
          <Fields user={row} />
          <UserSessions userId={id} />
          <AssignedPolicies userId={id} name={String(row['name'] ?? row['email'])} role={String(row['role'])} />
        </Page>
      )}
    </QueryState>
  );
}

function Actions({ user }: { readonly user: Row }) {
  const [isAsked, ask] = useDisclosure(false);
  const queryClient = useQueryClient();
  const isActive = user['isActive'] !== false;
  const refusal = useUserRefusal('update');
  const change = async (next: boolean): Promise<void> => {
    try {
      await sendRecordRequest(`User/${user.id}`, { method: 'PUT', body: { isActive: next }, version: user.version });
      notifySuccess(texts.changed);
    } finally {
      await queryClient.invalidateQueries({ queryKey: ['users'] });
    }
  };
  const activate = useMutation({ mutationFn: () => change(true) });
  return (
    <>
      {activate.error !== null && <ProblemAlert error={activate.error} onRepeat={() => activate.mutate()} />}
      <TextLink to="/data/$resource/$id" params={{ resource: 'User', id: user.id }} size="sm">
        {texts.record}
      </TextLink>
      <TextLink to="/simulator" search={{ user: user.id }} size="sm">
        {texts.simulate}
      </TextLink>
      <TextLink to="/access" search={{ tab: 'permissions', user: user.id }} size="sm">
        {texts.permissions}
      </TextLink>
      <TextLink to="/decisions" search={{ userId: user.id }} size="sm">
        {texts.decisions}
      </TextLink>
      <UserDialog label={texts.edit} user={user} onDone={() => undefined} />
      <GuardedButton
        variant="default"
        refusal={refusal}
        loading={activate.isPending}
        onClick={isActive ? ask.open : () => activate.mutate()}
      >
        {isActive ? texts.deactivate : texts.activate}
      </GuardedButton>
      <ConfirmModal isOpen={isAsked} title={texts.deactivate} action={texts.deactivate} perform={() => change(false)} onClose={ask.close}>
        <Text size="sm">{texts.deactivateDetail}</Text>
      </ConfirmModal>
    </>
  );
}

/** The values of the fields that the project adds, and of those that the service sets. */
function Fields({ user }: { readonly user: Row }) {
  const fields = useQuery({
    ...catalogueQuery,
    select: ({ definitions }) => definitions.filter(({ name }) => name === 'User').flatMap(toListedFields),
  });
  return (
    <Panel title={texts.fields}>
      <QueryState query={fields} lines={3}>
        {(listed) => <FieldTable fields={listed} row={user} />}
      </QueryState>
    </Panel>
  );
}

interface AssignedPoliciesProps {
  readonly userId: string;
  readonly name: string;
  readonly role: string;
}

function AssignedPolicies({ userId, name, role }: AssignedPoliciesProps) {
  const [isAssigning, assigning] = useDisclosure(false);
  const policies = useQuery({
    queryKey: ['users', 'policies', userId, role],
    queryFn: async ({ signal }) => {
      const params = { path: { userId }, query: { role: role as 'admin' } };
      return (await bodyOf(client.GET('/admin/api/users/{userId}/policies', { params, signal }))).data;
    },
  });
  return (
    <Panel
      title={texts.policies}
      actions={
        <Group gap="md">
          <TextLink to="/assignments" search={{ userId }} size="sm">
            {texts.assignments}
          </TextLink>
          <Button size="xs" onClick={assigning.open}>
            {usersTexts.assign.action}
          </Button>
        </Group>
      }
    >
      <QueryState query={policies} lines={3}>
        {(items) =>
          items.length === 0 ? (
            <Text c="dimmed">{texts.noPolicies}</Text>
          ) : (
            items.map(({ id, name, isActive, assignment }) => (
              <div key={assignment.id}>
                <PolicyLink id={id} size="sm">
                  {name}
                </PolicyLink>{' '}
                <AssignmentState
                  isActive={isActive && assignment.isActive}
                  expiresAt={'expiresAt' in assignment ? assignment.expiresAt : undefined}
                />{' '}
                <Text span size="sm" c="dimmed">
                  {'role' in assignment ? texts.via.role : texts.via.user}
                  {'expiresAt' in assignment && assignment.expiresAt !== undefined && (
                    <>
                      {' · '}
                      <Time at={assignment.expiresAt} />
                    </>
                  )}
                </Text>
              </div>
            ))
          )
        }
      </QueryState>
      {isAssigning && <LazyPart part={assignDialog} props={{ userId, name, onClose: assigning.close }} lines={0} />}
    </Panel>
  );
}
