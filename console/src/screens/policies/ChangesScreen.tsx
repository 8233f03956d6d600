import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { historyQuery } from '../../api/policies.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { Page } from '../../components/Page.tsx';
import { PagedState } from '../../components/PagedState.tsx';
import { policiesTexts, changesTexts as texts } from '../../texts/policies.ts';
import { PolicyTimeline } from '../policy/PolicyTimeline.tsx';

/** The changes of all policies. Deleted policies can be restored from here. */
export function ChangesScreen() {
  const query = useInfiniteQuery(historyQuery());
  return (
    <Page title={texts.title} description={texts.description}>
      <PagedState query={query}>
        {(changes) =>
          changes.length === 0 ? (
            <EmptyState
              {...texts.empty}
              action={
                <Button component={Link} to="/policies/new">
                  {policiesTexts.new}
                </Button>
              }
            />
          ) : (
            <PolicyTimeline items={changes} namesPolicies />
          )
        }
      </PagedState>
    </Page>
  );
}
