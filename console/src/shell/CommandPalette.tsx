import '@mantine/spotlight/styles.layer.css';
import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, type SpotlightActionGroupData, spotlight } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ownCatalogueQuery } from '../api/queries.ts';
import { shellTexts } from '../texts/shell.ts';
import { keyOfLink, type PaletteGroup, paletteGroups } from './palette-actions.ts';
import { paletteSearchQuery } from './palette-search.ts';
import { useAuditRights } from './useAuditRights.ts';

const { palette: texts, theme } = shellTexts;
const SCHEMES = ['light', 'dark', 'auto'] as const;

/** The palette of screens, resources and actions; for admins, also of policies and users by name. It opens with each request. */
export function CommandPalette({ requests }: { readonly requests: number }) {
  const rights = useAuditRights();
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme();
  const [typed, setTyped] = useState('');
  const [searched] = useDebouncedValue(typed.trim(), 200);
  const { data: catalogue } = useQuery(ownCatalogueQuery);
  const { data: found = [] } = useQuery({ ...paletteSearchQuery(searched), enabled: rights.isAdmin && searched.length > 1 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: each request opens the palette
  useEffect(spotlight.open, [requests]);
  const resources = catalogue?.resources.map(({ definition }) => definition.name) ?? [];
  const toActions = ({ group, links }: PaletteGroup): SpotlightActionGroupData => ({
    group,
    actions: links.map((link) => ({
      id: keyOfLink(link),
      label: link.label,
      ...(link.description !== undefined && { description: link.description }),
      onClick: () => void navigate({ to: link.to, search: link.search === undefined ? {} : { search: link.search } }),
    })),
  });
  const schemes = {
    group: theme.label,
    actions: SCHEMES.map((scheme) => ({ id: scheme, label: texts.scheme(theme[scheme]), onClick: () => setColorScheme(scheme) })),
  };
  return (
    <Spotlight
      actions={[...[...paletteGroups(rights, resources), ...found].map(toActions), schemes]}
      query={typed}
      onQueryChange={setTyped}
      shortcut={null}
      scrollable
      maxHeight="min(420px, 60vh)"
      attributes={{ content: { 'aria-label': texts.label } }}
      nothingFound={texts.empty}
      highlightQuery
      searchProps={{ placeholder: texts.label, 'aria-label': texts.label }}
    />
  );
}
