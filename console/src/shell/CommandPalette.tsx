import { Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { useNavigate } from '@tanstack/react-router';
import { shellTexts } from '../texts/shell.ts';
import { navigationFor } from './navigation.ts';
import { useCaller } from './useSession.ts';

/** The palette of screens and actions, opened with Ctrl K. */
export function CommandPalette() {
  const { role } = useCaller();
  const navigate = useNavigate();
  const actions: SpotlightActionData[] = [
    ...navigationFor(role).flatMap(({ title, items }) =>
      items.map(({ to, label }) => ({
        id: to,
        label,
        ...(title !== undefined && { description: title }),
        onClick: () => void navigate({ to }),
      })),
    ),
    ...(role === 'admin'
      ? [{ id: '/first-steps', label: shellTexts.screens.firstSteps, onClick: () => void navigate({ to: '/first-steps' }) }]
      : []),
    { id: '/account', label: shellTexts.screens.account, onClick: () => void navigate({ to: '/account' }) },
  ];
  return (
    <Spotlight
      actions={actions}
      shortcut="mod + K"
      nothingFound={shellTexts.paletteEmpty}
      highlightQuery
      searchProps={{ placeholder: shellTexts.palette, 'aria-label': shellTexts.palette }}
    />
  );
}
