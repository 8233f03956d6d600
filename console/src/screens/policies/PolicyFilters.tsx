import { Button, Group, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { PolicyFilter } from '../../api/policies.ts';
import { catalogueQuery } from '../../api/queries.ts';
import { useDelayedText } from '../../components/useTypedText.ts';
import { policiesTexts } from '../../texts/policies.ts';

const texts = policiesTexts.filters;

/** Properties of the filters. */
interface PolicyFiltersProps {
  readonly filter: PolicyFilter;
  /** Replaces some of the filters; undefined removes one. */
  onChange(change: { readonly [Name in keyof PolicyFilter]?: PolicyFilter[Name] | undefined }): void;
  onClear(): void;
}

/** The filters of the list of policies. */
export function PolicyFilters({ filter, onChange, onClear }: PolicyFiltersProps) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const role = filter.assignedTo?.startsWith('role:') ? filter.assignedTo.slice('role:'.length) : null;
  const resources = ['*', ...(catalogue?.definitions.map(({ name }) => name) ?? [])];
  const isFiltered = Object.keys(filter).some((name) => name !== 'sort');
  return (
    <Group gap="xs" align="end">
      <SearchInput value={filter.search} onChange={(search) => onChange({ search })} />
      <Select
        label={texts.type}
        placeholder={texts.any}
        w={160}
        clearable
        data={Object.entries(policiesTexts.types).map(([value, label]) => ({ value, label }))}
        value={filter.type ?? null}
        onChange={(type) => onChange({ type: (type as PolicyFilter['type'] | null) ?? undefined })}
      />
      <Select
        label={texts.resource}
        placeholder={texts.any}
        w={150}
        clearable
        searchable
        data={resources}
        value={filter.resource ?? null}
        onChange={(resource) => onChange({ resource: resource ?? undefined })}
      />
      <Select
        label={texts.state}
        placeholder={texts.any}
        w={130}
        clearable
        data={[
          { value: 'true', label: texts.active },
          { value: 'false', label: texts.inactive },
        ]}
        value={filter.isActive === undefined ? null : String(filter.isActive)}
        onChange={(value) => onChange({ isActive: value === null ? undefined : value === 'true' })}
      />
      <Select
        label={texts.assignedTo}
        placeholder={texts.any}
        w={150}
        clearable
        data={catalogue?.roles ?? []}
        value={role}
        onChange={(value) => onChange({ assignedTo: value === null ? undefined : `role:${value}` })}
      />
      <DelayedInput label={texts.tag} width={120} value={filter.tag} onChange={(tag) => onChange({ tag })} />
      {isFiltered && (
        <Button variant="subtle" onClick={onClear}>
          {texts.clear}
        </Button>
      )}
    </Group>
  );
}

interface DelayedInputProps {
  readonly label: string;
  readonly width: number;
  readonly value: string | undefined;
  onChange(value: string | undefined): void;
}

function DelayedInput({ label, width, value, onChange }: DelayedInputProps) {
  const input = useDelayedText(value ?? '', (text) => onChange(text === '' ? undefined : text));
  return <TextInput label={label} placeholder={texts.any} w={width} {...input} />;
}

function SearchInput({ value, onChange }: Pick<DelayedInputProps, 'value' | 'onChange'>) {
  const input = useDelayedText(value ?? '', (text) => onChange(text === '' ? undefined : text));
  return <TextInput data-search type="search" flex="1 1 220px" label={policiesTexts.search} {...input} />;
}
