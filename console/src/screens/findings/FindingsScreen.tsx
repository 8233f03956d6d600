import { Button, Select } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type Finding, findingsQuery } from '../../api/policies.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { FindingList } from '../../components/FindingList.tsx';
import { Page } from '../../components/Page.tsx';
import { PagedState } from '../../components/PagedState.tsx';
import { findingsTexts as texts } from '../../texts/policy.ts';
import { findingsRoute } from './route.ts';

/** The kinds of findings, in the order of the reference. The compiler requires each of them. */
const KINDS: Readonly<Record<Finding['code'], true>> = {
  'attribute-never-set': true,
  'never-equal': true,
  'never-holds': true,
  'foreign-reference': true,
  'unknown-resource': true,
  'unknown-field': true,
  'always-unknown': true,
  'never-fires': true,
  redundant: true,
  duplicate: true,
  conflict: true,
  'unknown-role': true,
  'fires-on-missing': true,
  closes: true,
  'eq-null': true,
  'ambiguous-name': true,
  'self-granted': true,
  'not-listed': true,
  'many-conditions': true,
  'related-index': true,
  'in-memory': true,
  empty: true,
  unassigned: true,
  'assigned-inactive': true,
  expired: true,
  'expires-soon': true,
};

const CODES = Object.keys(KINDS) as readonly Finding['code'][];

/** The findings of the linter about all policies. */
export function FindingsScreen() {
  const search = findingsRoute.useSearch();
  const navigate = findingsRoute.useNavigate();
  const code = CODES.find((each) => each === search.code);
  const query = useInfiniteQuery(findingsQuery(code === undefined ? {} : { code }));
  useFirstFindings(query);
  const all = (
    <Button variant="default" onClick={() => void navigate({ search: {}, replace: true })}>
      {texts.all}
    </Button>
  );
  return (
    <Page title={texts.title} description={texts.description}>
      <Select
        label={texts.code}
        placeholder={texts.any}
        w={260}
        clearable
        searchable
        data={CODES}
        value={code ?? null}
        onChange={(next) => void navigate({ search: next === null ? {} : { code: next }, replace: true })}
      />
      <PagedState query={query}>
        {(items) =>
          items.length === 0 && !query.hasNextPage ? (
            <EmptyState {...(code === undefined ? texts.empty : { title: texts.empty.title, action: all })} />
          ) : (
            <FindingList findings={items} />
          )
        }
      </PagedState>
    </Page>
  );
}

interface FindingPages {
  readonly data: { readonly pages: readonly { readonly items: readonly unknown[] }[] } | undefined;
  readonly hasNextPage: boolean;
  readonly isFetching: boolean;
  readonly isError: boolean;
  fetchNextPage(): unknown;
}

/** Loads pages until one has findings: the policies of the first pages may have none. */
function useFirstFindings({ data, hasNextPage, isFetching, isError, fetchNextPage }: FindingPages): void {
  const isEmpty = data?.pages.every(({ items }) => items.length === 0) === true;
  const isNextNeeded = isEmpty && hasNextPage && !isFetching && !isError;
  useEffect(() => {
    if (isNextNeeded) void fetchNextPage();
  }, [isNextNeeded, fetchNextPage]);
}
