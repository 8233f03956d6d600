import { Checkbox, Group, NativeSelect, Select, SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { catalogueQuery } from '../../api/queries.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { previewTexts as texts } from '../../texts/preview.ts';
import { UserPicker } from '../UserPicker.tsx';
import { PREVIEW_RANGES, type PreviewRange, type PreviewSearch } from './preview-search.ts';

/** Properties of the filters. */
interface PreviewFiltersProps {
  readonly search: PreviewSearch;
  onSearch(search: PreviewSearch): void;
}

/** The choice of the recorded decisions that are replayed: by time, resource, role and user. */
export function PreviewFilters({ search, onSearch }: PreviewFiltersProps) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const { range = '7d', fill = false, resource, role, user } = search;
  const set = (name: 'resource' | 'role' | 'user' | 'fill', value: string | boolean | null | undefined): void => {
    const { [name]: _, ...others } = search;
    onSearch({ ...others, ...(value !== null && value !== undefined && value !== false && { [name]: value }) });
  };
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} style={{ alignItems: 'end' }}>
        <NativeSelect
          label={texts.range}
          value={range}
          data={PREVIEW_RANGES.map((value) => ({ value, label: decisionsTexts.ranges[value] }))}
          onChange={({ currentTarget }) => onSearch({ ...search, range: currentTarget.value as PreviewRange })}
        />
        <Select
          label={texts.resource}
          placeholder={texts.any}
          searchable
          clearable
          data={(catalogue?.definitions ?? []).map(({ name }) => name)}
          value={resource ?? null}
          onChange={(name) => set('resource', name)}
        />
        <Select
          label={texts.role}
          placeholder={texts.any}
          clearable
          data={catalogue?.roles ?? []}
          value={role ?? null}
          onChange={(name) => set('role', name)}
        />
        <UserPicker label={texts.user} placeholder={texts.any} value={user} onChange={(id) => set('user', id)} />
      </SimpleGrid>
      <Group>
        <Checkbox label={texts.fill} checked={fill} onChange={({ currentTarget }) => set('fill', currentTarget.checked)} />
      </Group>
    </>
  );
}
