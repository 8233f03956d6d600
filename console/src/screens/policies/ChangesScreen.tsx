import { useInfiniteQuery } from '@tanstack/react-query';
import { historyQuery } from '../../api/policies.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { Page } from '../../components/Page.tsx';
import { PagedState } from '../../components/PagedState.tsx';
import { changesTexts as texts } from '../../texts/policies.ts';
import { PolicyTimeline } from '../policy/PolicyTimeline.tsx';

/** The changes of all policies. Deleted policies can be restored from here. */
export function ChangesScreen() {
  const query = useInfiniteQuery(historyQuery());
  return (
    <Page title={texts.title} description={texts.description}>
      <PagedState query={query}>
        {(changes) => (changes.length === 0 ? <EmptyState {...texts.empty} /> : <PolicyTimeline items={changes} namesPolicies />)}
      </PagedState>
    </Page>
  );
}
