import { Button, Group, Paper, Text } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { assignmentsQuery, changeAssignments, type NamedAssignment, toRevocation } from '../../api/assignments.ts';
import { AssignmentTable } from '../../components/AssignmentTable.tsx';
import type { AccessChangesOfSubjectsProps } from '../../components/access-change/AccessChangesOfSubjects.tsx';
import { ConfirmModal } from '../../components/ConfirmModal.tsx';
import { EmptyState } from '../../components/EmptyState.tsx';
import { GuardedButton } from '../../components/GuardedButton.tsx';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { notifySuccess } from '../../components/notify.ts';
import { Page } from '../../components/Page.tsx';
import { PagedState } from '../../components/PagedState.tsx';
import { presentItems, type Selection } from '../../components/selection.ts';
import { selectionColumn } from '../../components/selection-column.tsx';
import { commonTexts } from '../../texts/common.ts';
import { assignmentsTexts as texts } from '../../texts/policy.ts';
import { AssignmentFilters } from './AssignmentFilters.tsx';
import { AssignPolicyButton } from './AssignPolicyButton.tsx';
import { type AssignmentsSearch, toAssignmentFilter } from './assignments-search.ts';
import { revocationRefusal, toDraft } from './revocation.ts';
import { assignmentsRoute } from './route.ts';

const accessChanges = createPart<AccessChangesOfSubjectsProps>(
  async () => (await import('../../components/access-change/AccessChangesOfSubjects.tsx')).AccessChangesOfSubjects,
);

/** All assignments of policies, with filters and revocation of several at once. */
export function AssignmentsScreen() {
  const search = assignmentsRoute.useSearch();
  const navigate = assignmentsRoute.useNavigate();
  const change = (next: AssignmentsSearch): void => void navigate({ search: next, replace: true });
  return (
    <Page title={texts.title} description={texts.description} actions={<AssignPolicyButton />}>
      <AssignmentFilters search={search} onChange={change} />
      {/* Another filter ends the selection: its assignments may no longer be in view. */}
      <AssignmentList key={JSON.stringify(search)} search={search} onClear={() => change({})} />
    </Page>
  );
}

function AssignmentList({ search, onClear }: { readonly search: AssignmentsSearch; onClear(): void }) {
  const [now] = useState(() => Date.now());
  const [selected, setSelected] = useState<Selection<NamedAssignment>>(new Map());
  const query = useInfiniteQuery(assignmentsQuery(toAssignmentFilter(search, now)));
  const loaded = query.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <>
      {selected.size > 0 && <RevokeBar selected={presentItems(selected, loaded)} onDone={() => setSelected(new Map())} />}
      <PagedState query={query}>
        {(items) =>
          items.length === 0 ? (
            <EmptyState
              {...texts.empty}
              action={
                <Button variant="default" onClick={onClear}>
                  {texts.filters.clear}
                </Button>
              }
            />
          ) : (
            <AssignmentTable
              assignments={items}
              namesPolicies
              before={[selectionColumn({ items, selected, labelOf: ({ name }) => texts.select(name), onChange: setSelected })]}
            />
          )
        }
      </PagedState>
    </>
  );
}

function RevokeBar({ selected, onDone }: { readonly selected: readonly NamedAssignment[]; onDone(): void }) {
  const [isOpen, setOpen] = useState(false);
  const queryClient = useQueryClient();
  const { length: count } = selected;
  const perform = async (reason: string | undefined) => {
    try {
      await changeAssignments(selected.map(toRevocation), reason);
    } finally {
      await queryClient.invalidateQueries({ queryKey: ['policies'] });
    }
    notifySuccess(texts.revoked(count));
    onDone();
  };
  return (
    <Paper withBorder p="xs">
      <Group>
        <Text size="sm">{texts.selected(count)}</Text>
        <GuardedButton size="xs" color="red" variant="light" refusal={revocationRefusal(selected)} onClick={() => setOpen(true)}>
          {texts.revoke}
        </GuardedButton>
        <Button size="xs" variant="subtle" onClick={onDone}>
          {commonTexts.clearSelection}
        </Button>
      </Group>
      <ConfirmModal
        isOpen={isOpen}
        title={texts.revokeTitle(count)}
        action={texts.revoke}
        word={texts.word(count)}
        takesReason
        isWide
        perform={perform}
        onClose={() => setOpen(false)}
      >
        <Text size="sm">{texts.revokeDetail}</Text>
        <LazyPart part={accessChanges} props={{ assignments: selected, draft: toDraft(selected), resources: undefined }} lines={2} />
      </ConfirmModal>
    </Paper>
  );
}
