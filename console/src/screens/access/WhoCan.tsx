import { Group, Select, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { NamedConditions } from '../../components/decision/NamedConditions.tsx';
import { ResidualWords } from '../../components/decision/ResidualCondition.tsx';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { LoadMore } from '../../components/LoadMore.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { RecordPicker } from '../../components/RecordPicker.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { accessTexts as texts } from '../../texts/access.ts';
import { namesOf, residualsOf, whoCanQuery } from './queries.ts';
import type { AccessTabProps } from './RoleMatrix.tsx';
import type { WhoCanChangesProps } from './WhoCanChanges.tsx';
import { PossibleVerdict, WhoCanRule } from './WhoCanRule.tsx';
import type { Possible } from './who-can-changes.ts';

type Question = Schemas['admin.WhoCanQuestion'];

// Most visits have no draft.
const whoCanChanges = createPart<WhoCanChangesProps>(async () => (await import('./WhoCanChanges.tsx')).WhoCanChanges);

/** The roles and users that may perform an action on a resource or a record. */
export function WhoCan({ catalogue, search, draft, onChange }: AccessTabProps) {
  const { resource, action, id } = search;
  const chosen = catalogue.definitions.find(({ name }) => name === resource);
  const question = toQuestion(search);
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, sm: 3 }} style={{ alignItems: 'end' }}>
        <Select
          label={texts.resource}
          searchable
          data={catalogue.definitions.map(({ name }) => name)}
          value={resource ?? null}
          onChange={(name) => name !== null && onChange({ resource: name, id: '' })}
        />
        <Select
          label={texts.action}
          data={catalogue.ruleActions}
          value={action ?? null}
          onChange={(name) => name !== null && onChange({ action: name })}
        />
        {chosen && action !== 'create' && (
          <RecordPicker
            resource={chosen}
            label={texts.record}
            description={texts.recordHelp}
            value={id === '' ? undefined : id}
            onChange={(next) => onChange({ id: next ?? '' })}
          />
        )}
      </SimpleGrid>
      {question === undefined && <Text c="dimmed">{texts.ask}</Text>}
      {question &&
        (draft === undefined ? <Answer question={question} /> : <LazyPart part={whoCanChanges} props={{ question, draft }} lines={6} />)}
    </Stack>
  );
}

function toQuestion({ resource, action, id = '' }: AccessTabProps['search']): Question | undefined {
  if (resource === undefined || action === undefined) return undefined;
  return { resource, action: action as Question['action'], ...(id !== '' && action !== 'create' && { id }) };
}

function Answer({ question }: { readonly question: Question }) {
  const answer = useInfiniteQuery(whoCanQuery(question));
  return (
    <QueryState query={answer}>
      {({ pages }) => {
        const roles = pages[0]?.data.roles ?? [];
        const users = pages.flatMap(({ data }) => data.users);
        return (
          // Conditions compare the id of the user of their line.
          <NamedConditions decided={residualsOf(answer.data, question.resource)} users={namesOf(users)}>
            <Stack>
              <Title order={2} size="h4">
                {texts.roles}
              </Title>
              {roles.length === 0 && <Text c="dimmed">{texts.noRole}</Text>}
              {roles.length > 0 && <DataTable label={texts.roles} columns={ROLE_COLUMNS} items={roles} idOf={({ role }) => role} />}
              <Title order={2} size="h4">
                {texts.users}
              </Title>
              {users.length === 0 && <Text c="dimmed">{texts.noUser}</Text>}
              {users.length > 0 && <DataTable label={texts.users} columns={USER_COLUMNS} items={users} idOf={({ id }) => id} />}
              <LoadMore query={answer} />
            </Stack>
          </NamedConditions>
        );
      }}
    </QueryState>
  );
}

function Always() {
  return (
    <Text span size="sm" c="dimmed">
      {texts.always}
    </Text>
  );
}

const RULE_COLUMNS: readonly Column<Possible>[] = [
  {
    key: 'effect',
    title: texts.decision,
    width: 190,
    render: ({ effect }) => <PossibleVerdict effect={effect} />,
  },
  {
    key: 'when',
    title: texts.when,
    render: ({ when, residual }) => (when === undefined ? <Always /> : <ResidualWords when={when} residual={residual} />),
  },
  {
    key: 'rule',
    title: texts.rule,
    render: ({ policy, rule }) => <WhoCanRule policy={policy} rule={rule} />,
  },
];

const ROLE_COLUMNS: readonly Column<Schemas['admin.RoleWhoCan']>[] = [
  { key: 'role', title: texts.role, render: ({ role }) => role },
  ...RULE_COLUMNS,
];

const USER_COLUMNS: readonly Column<Schemas['admin.UserWhoCan']>[] = [
  {
    key: 'user',
    title: texts.user,
    render: ({ id, name, email, via }) => (
      <Group gap={6}>
        <TextLink to="/users/$id" params={{ id }} size="sm" data-open>
          {name ?? email}
        </TextLink>
        <Text span size="xs" c="dimmed">
          {texts.via[via]}
        </Text>
      </Group>
    ),
  },
  ...RULE_COLUMNS,
];
