import { Group, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import type { Draft } from '../../api/draft.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { NamedConditions } from '../../components/decision/NamedConditions.tsx';
import { ResidualWords } from '../../components/decision/ResidualCondition.tsx';
import { LoadMore } from '../../components/LoadMore.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { Verdict } from '../../components/Verdict.tsx';
import { accessTexts as texts } from '../../texts/access.ts';
import { draftTexts } from '../../texts/draft.ts';
import { namesOf, residualsOf, whoCanQuery } from './queries.ts';
import { PossibleVerdict, WhoCanRule } from './WhoCanRule.tsx';
import { compareRoles, compareUsers, type Possible, type WhoCanChange } from './who-can-changes.ts';

type RoleChange = WhoCanChange<Schemas['admin.RoleWhoCan']>;
type UserChange = WhoCanChange<Schemas['admin.UserWhoCan']>;

/** Properties of the comparison. */
export interface WhoCanChangesProps {
  readonly question: Schemas['admin.WhoCanQuestion'];
  readonly draft: Draft;
}

/** The roles and users that may perform an action, under the policies in force and under a draft beside them. */
export function WhoCanChanges({ question, draft }: WhoCanChangesProps) {
  const live = useInfiniteQuery(whoCanQuery(question));
  const drafted = useInfiniteQuery(whoCanQuery({ ...question, draft }));
  return (
    <QueryState query={live}>
      {({ pages }) => (
        <QueryState query={drafted}>
          {({ pages: draftedPages }) => {
            const [users = [], draftedUsers = []] = [pages, draftedPages].map((each) => each.flatMap(({ data }) => data.users));
            return (
              // Conditions compare the id of the user of their line.
              <NamedConditions
                decided={[live, drafted].flatMap(({ data }) => residualsOf(data, question.resource))}
                users={namesOf([...users, ...draftedUsers])}
              >
                <Changes
                  roles={compareRoles(pages[0]?.data.roles ?? [], draftedPages[0]?.data.roles ?? [])}
                  users={compareUsers({
                    live: { items: users, isComplete: !live.hasNextPage },
                    drafted: { items: draftedUsers, isComplete: !drafted.hasNextPage },
                  })}
                />
                <LoadMore
                  query={{
                    hasNextPage: live.hasNextPage || drafted.hasNextPage,
                    isFetchingNextPage: live.isFetchingNextPage || drafted.isFetchingNextPage,
                    fetchNextPage: async () => {
                      const open = [live, drafted].filter(({ hasNextPage }) => hasNextPage);
                      return (await Promise.all(open.map(({ fetchNextPage }) => fetchNextPage())))[0] ?? live;
                    },
                  }}
                />
              </NamedConditions>
            );
          }}
        </QueryState>
      )}
    </QueryState>
  );
}

function Changes({ roles, users }: { readonly roles: readonly RoleChange[]; readonly users: readonly UserChange[] }) {
  const count = [...roles, ...users].filter(({ isChanged }) => isChanged).length;
  return (
    <Stack>
      <Text size="sm" fw={600} role="status">
        {draftTexts.changedLines(count)}
      </Text>
      <Title order={2} size="h4">
        {texts.roles}
      </Title>
      {roles.length === 0 && <Text c="dimmed">{texts.noRole}</Text>}
      {roles.length > 0 && <DataTable label={texts.roles} columns={ROLE_COLUMNS} items={roles} idOf={({ key }) => key} />}
      <Title order={2} size="h4">
        {texts.users}
      </Title>
      {users.length === 0 && <Text c="dimmed">{texts.noUser}</Text>}
      {users.length > 0 && <DataTable label={texts.users} columns={USER_COLUMNS} items={users} idOf={({ key }) => key} />}
    </Stack>
  );
}

/** The answer of one side: the verdict, the condition and the rule. */
function Answer({ possible }: { readonly possible: Possible | undefined }) {
  if (possible === undefined) return <Verdict allowed={false} />;
  const { when, residual } = possible;
  return (
    <Stack gap={2} align="flex-start">
      <PossibleVerdict effect={possible.effect} />
      {when !== undefined && <ResidualWords when={when} residual={residual} />}
      <WhoCanRule policy={possible.policy} rule={possible.rule} />
    </Stack>
  );
}

const HALF = '42%';

function columnsOf<Item extends Possible>(
  title: string,
  nameOf: (change: WhoCanChange<Item>) => ReactNode,
): readonly Column<WhoCanChange<Item>>[] {
  return [
    {
      key: 'name',
      title,
      render: (change) => (
        <Text size="sm" fw={change.isChanged ? 600 : 400}>
          {nameOf(change)}
        </Text>
      ),
    },
    { key: 'live', title: draftTexts.inForce, width: HALF, render: ({ live }) => <Answer possible={live} /> },
    {
      key: 'drafted',
      title: draftTexts.withDraft,
      width: HALF,
      render: ({ drafted, isChanged }) =>
        isChanged ? (
          <Group gap={6} align="flex-start" wrap="nowrap">
            <span aria-hidden="true">→</span>
            <Answer possible={drafted} />
          </Group>
        ) : (
          <Text size="sm" c="dimmed">
            {draftTexts.same}
          </Text>
        ),
    },
  ];
}

const ROLE_COLUMNS = columnsOf<Schemas['admin.RoleWhoCan']>(texts.role, ({ key }) => key);
const USER_COLUMNS = columnsOf<Schemas['admin.UserWhoCan']>(texts.user, ({ key, live, drafted }) => {
  const { name, email } = drafted ?? live ?? {};
  return name ?? email ?? key;
});
