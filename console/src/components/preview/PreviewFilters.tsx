import { Button, Checkbox, Group, NativeSelect, SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { catalogueQuery } from '../../api/queries.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { previewTexts as texts } from '../../texts/preview.ts';
import { createPart, LazyPart } from '../LazyPart.tsx';
import type { UserPickerProps } from '../UserPicker.tsx';
import { PREVIEW_RANGES, type PreviewRange, type PreviewSearch } from './preview-search.ts';

// Few previews are about one user.
const userPicker = createPart<UserPickerProps>(async () => (await import('../UserPicker.tsx')).UserPicker);

/** Properties of the filters. */
interface PreviewFiltersProps {
  readonly search: PreviewSearch;
  onSearch(search: PreviewSearch): void;
}

/** The choice of the recorded decisions that are replayed: by time, resource, role and user. */
export function PreviewFilters({ search, onSearch }: PreviewFiltersProps) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const { range = '7d', fill = false, resource = '', role = '', user } = search;
  const [isPicking, setPicking] = useState(user !== undefined);
  const set = (name: 'resource' | 'role' | 'user' | 'fill', value: string | boolean | undefined): void => {
    const { [name]: _, ...others } = search;
    onSearch({ ...others, ...(value !== undefined && value !== '' && value !== false && { [name]: value }) });
  };
  const toOptions = (names: readonly string[] = []) => [{ value: '', label: texts.any }, ...names];
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} style={{ alignItems: 'end' }}>
        <NativeSelect
          label={texts.range}
          value={range}
          data={PREVIEW_RANGES.map((value) => ({ value, label: decisionsTexts.ranges[value] }))}
          onChange={({ currentTarget }) => onSearch({ ...search, range: currentTarget.value as PreviewRange })}
        />
        <NativeSelect
          label={texts.resource}
          data={toOptions(catalogue?.definitions.map(({ name }) => name))}
          value={resource}
          onChange={({ currentTarget }) => set('resource', currentTarget.value)}
        />
        <NativeSelect
          label={texts.role}
          data={toOptions(catalogue?.roles)}
          value={role}
          onChange={({ currentTarget }) => set('role', currentTarget.value)}
        />
        {isPicking ? (
          <LazyPart
            part={userPicker}
            props={{ label: texts.user, placeholder: texts.any, value: user, onChange: (id) => set('user', id) }}
            lines={2}
          />
        ) : (
          <Button variant="default" onClick={() => setPicking(true)}>
            {texts.pickUser}
          </Button>
        )}
      </SimpleGrid>
      <Group>
        <Checkbox label={texts.fill} checked={fill} onChange={({ currentTarget }) => set('fill', currentTarget.checked)} />
      </Group>
    </>
  );
}
