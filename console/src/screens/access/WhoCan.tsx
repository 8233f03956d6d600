import { Group, Select, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { ResidualWords } from '../../components/decision/ResidualCondition.tsx';
import { UserNamesContext } from '../../components/decision/trace-vocabulary.ts';
import { LoadMore } from '../../components/LoadMore.tsx';
import { Panel } from '../../components/Panel.tsx';
import { PolicyLink } from '../../components/PolicyLink.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { RecordPicker } from '../../components/RecordPicker.tsx';
import { Verdict } from '../../components/Verdict.tsx';
import { accessTexts as texts } from '../../texts/access.ts';
import { draftTexts } from '../../texts/draft.ts';
import { isolate, sentence } from '../../texts/sentence.ts';
import { whoCanQuery } from './queries.ts';
import type { AccessTabProps } from './RoleMatrix.tsx';

type Question = Schemas['admin.WhoCanQuestion'];
type Allowed = Pick<Schemas['admin.RoleWhoCan'], 'effect' | 'policy' | 'residual' | 'rule' | 'when'>;

/** The roles and users that may perform an action on a resource or a record. */
export function WhoCan({ catalogue, search: { resource, action, id }, draft, onChange }: AccessTabProps) {
  const chosen = catalogue.definitions.find(({ name }) => name === resource);
  const isComplete = resource !== undefined && action !== undefined;
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
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
      {isComplete ? (
        <Answers
          question={{ resource, action: action as Question['action'], ...(id !== undefined && id !== '' && action !== 'create' && { id }) }}
          draft={draft}
        />
      ) : (
        <Text c="dimmed">{texts.ask}</Text>
      )}
    </Stack>
  );
}

/** The answer under the policies in force; with a draft, that under its changes beside it. */
function Answers({ question, draft }: { readonly question: Question } & Pick<AccessTabProps, 'draft'>) {
  if (draft === undefined) return <Answer question={question} />;
  return (
    <SimpleGrid cols={{ base: 1, xl: 2 }} style={{ alignItems: 'start' }}>
      <Panel title={draftTexts.inForce}>
        <Answer question={question} />
      </Panel>
      <Panel title={draftTexts.withDraft}>
        <Answer question={{ ...question, draft }} />
      </Panel>
    </SimpleGrid>
  );
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
          <UserNamesContext value={Object.fromEntries(users.map(({ id, name, email }) => [id, name ?? email]))}>
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
          </UserNamesContext>
        );
      }}
    </QueryState>
  );
}

const RULE_COLUMNS: readonly Column<Allowed>[] = [
  {
    key: 'effect',
    title: texts.action,
    width: 190,
    render: ({ effect }) => <Verdict allowed={effect === 'allow' ? true : undefined} label={texts.effects[effect]} />,
  },
  {
    key: 'when',
    title: texts.when,
    render: ({ when, residual }) => when !== undefined && <ResidualWords when={when} residual={residual} />,
  },
  {
    key: 'rule',
    title: texts.openRule,
    render: ({ policy, rule }) => (
      <PolicyLink id={policy.id} rule={rule.id} size="sm">
        {isolate(policy.name)}
        {rule.description !== undefined && sentence`, ${rule.description}`}
      </PolicyLink>
    ),
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
    render: ({ name, email, via }) => (
      <Group gap={6}>
        {name ?? email}
        <Text span size="xs" c="dimmed">
          {texts.via[via]}
        </Text>
      </Group>
    ),
  },
  ...RULE_COLUMNS,
];
