import '@mantine/spotlight/styles.layer.css';
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { shellTexts } from '../texts/shell.ts';
import { navigationFor } from './navigation.ts';
import { useAuditRights } from './useAuditRights.ts';

/** The palette of screens and actions. It opens with each request. */
export function CommandPalette({ requests }: { readonly requests: number }) {
  const rights = useAuditRights();
  const navigate = useNavigate();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each request opens the palette
  useEffect(spotlight.open, [requests]);
  const actions: SpotlightActionData[] = [
    ...navigationFor(rights).flatMap(({ title, items }) =>
      items.map(({ to, label }) => ({
        id: to,
        label,
        ...(title !== undefined && { description: title }),
        onClick: () => void navigate({ to }),
      })),
    ),
    ...(rights.isAdmin
      ? [{ id: '/first-steps', label: shellTexts.screens.firstSteps, onClick: () => void navigate({ to: '/first-steps' }) }]
      : []),
    { id: '/account', label: shellTexts.screens.account, onClick: () => void navigate({ to: '/account' }) },
  ];
  return (
    <Spotlight
      actions={actions}
      shortcut={null}
      nothingFound={shellTexts.paletteEmpty}
      highlightQuery
      searchProps={{ placeholder: shellTexts.palette, 'aria-label': shellTexts.palette }}
    />
  );
}
