import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { EmptyState } from '../../components/EmptyState.tsx';
import { useAuditRights } from '../../shell/useAuditRights.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { reasonOfNoEntries, withoutFilters } from './filters.ts';
import type { DecisionsSearch } from './search.ts';

const texts = decisionsTexts.empty;

/** Shown instead of entries: why there are none, and the action that helps. */
export function NoEntries({ search, onChange }: { readonly search: DecisionsSearch; onChange(search: DecisionsSearch): void }) {
  const { isAdmin } = useAuditRights();
  const navigate = useNavigate();
  const reason = reasonOfNoEntries(search);
  const { title, detail, action } = texts[reason];
  const perform = (): void => {
    if (reason === 'log') void navigate({ to: '/first-steps' });
    else onChange({ ...withoutFilters(search), range: 'all' });
  };
  // The first steps send requests that only admins may send.
  const hasAction = reason !== 'log' || isAdmin;
  return (
    <EmptyState
      title={title}
      detail={detail}
      action={
        hasAction && (
          <Button variant="default" onClick={perform}>
            {action}
          </Button>
        )
      }
    />
  );
}
