import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { catalogueQuery } from '../../api/queries.ts';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { accessTexts as texts } from '../../texts/access.ts';
import { RoleMatrix } from './RoleMatrix.tsx';
import { accessRoute } from './route.ts';
import { type AccessSearch, TABS } from './search.ts';
import { UserPermissions } from './UserPermissions.tsx';
import { WhoCan } from './WhoCan.tsx';

/** Answers of the policies in force about each role, each record and each user. */
export function AccessScreen() {
  const search = accessRoute.useSearch();
  const navigate = useNavigate({ from: '/access' });
  const catalogue = useQuery(catalogueQuery);
  const { tab = 'matrix' } = search;
  const change = (next: AccessSearch): void => void navigate({ search: { ...search, ...next }, replace: true });
  return (
    <Page title={texts.title} description={texts.description}>
      <Tabs value={tab} onChange={(next) => change({ tab: next as (typeof TABS)[number] })} keepMounted={false}>
        <Tabs.List mb="md">
          {TABS.map((value) => (
            <Tabs.Tab key={value} value={value}>
              {texts.tabs[value]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <QueryState query={catalogue}>
          {(data) => (
            <>
              <Tabs.Panel value="matrix">
                <RoleMatrix catalogue={data} search={search} onChange={change} />
              </Tabs.Panel>
              <Tabs.Panel value="whoCan">
                <WhoCan catalogue={data} search={search} onChange={change} />
              </Tabs.Panel>
              <Tabs.Panel value="permissions">
                <UserPermissions search={search} onChange={change} />
              </Tabs.Panel>
            </>
          )}
        </QueryState>
      </Tabs>
    </Page>
  );
}
