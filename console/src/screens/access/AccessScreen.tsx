import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { catalogueQuery } from '../../api/queries.ts';
import { useLinkedDraft } from '../../components/draft/useLinkedDraft.ts';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { accessTexts as texts } from '../../texts/access.ts';
import type { DraftBarProps } from './DraftBar.tsx';
import type { AccessTabProps } from './RoleMatrix.tsx';
import { accessRoute } from './route.ts';
import { type AccessSearch, TABS } from './search.ts';

// A visit needs one tab, and most have no draft.
const roleMatrix = createPart<AccessTabProps>(async () => (await import('./RoleMatrix.tsx')).RoleMatrix);
const whoCan = createPart<AccessTabProps>(async () => (await import('./WhoCan.tsx')).WhoCan);
const userPermissions = createPart<AccessTabProps>(async () => (await import('./UserPermissions.tsx')).UserPermissions);
const draftBar = createPart<DraftBarProps>(async () => (await import('./DraftBar.tsx')).DraftBar);

/** Shows what a role or a user may do, and who may act on a record, under the policies in force and, if there is one, under a draft. */
export function AccessScreen() {
  const search = accessRoute.useSearch();
  const navigate = useNavigate({ from: '/access' });
  const catalogue = useQuery(catalogueQuery);
  const linked = useLinkedDraft();
  const { tab = 'matrix', live = false } = search;
  const draft = live ? undefined : linked.draft;
  // The draft of the address stays, and so does a change just before this one, which is not rendered yet.
  const change = (next: AccessSearch): void =>
    void navigate({ search: (current: AccessSearch) => ({ ...current, ...next }), hash: true, replace: true });
  return (
    <Page title={texts.title} description={texts.description}>
      {(linked.draft !== undefined || linked.isUnreadable) && (
        <LazyPart
          part={draftBar}
          props={{ linked, isCompared: !live, onCompare: (isCompared) => change({ live: !isCompared }) }}
          lines={2}
        />
      )}
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
                <LazyPart part={roleMatrix} props={{ catalogue: data, search, draft, onChange: change }} lines={6} />
              </Tabs.Panel>
              <Tabs.Panel value="whoCan">
                <LazyPart part={whoCan} props={{ catalogue: data, search, draft, onChange: change }} lines={3} />
              </Tabs.Panel>
              <Tabs.Panel value="permissions">
                <LazyPart part={userPermissions} props={{ catalogue: data, search, draft, onChange: change }} lines={3} />
              </Tabs.Panel>
            </>
          )}
        </QueryState>
      </Tabs>
    </Page>
  );
}
