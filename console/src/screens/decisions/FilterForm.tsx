import { Button, Group, NativeSelect, Stack, Switch, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { PolicyPicker } from '../../components/PolicyPicker.tsx';
import { SuggestionField } from '../../components/SuggestionField.tsx';
import { UserPicker } from '../../components/UserPicker.tsx';
import { useAuditRights } from '../../shell/useAuditRights.ts';
import { commonTexts } from '../../texts/common.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import type { EntryFilter } from './filters.ts';
import { FACETS, valuesQuery } from './queries.ts';
import type { DecisionsSearch, FilterName } from './search.ts';

const texts = decisionsTexts.addFilter;

/** Properties of the form. */
export interface FilterFormProps {
  readonly name: FilterName;
  readonly search: DecisionsSearch;
  onAdd(filter: EntryFilter): void;
}

/** A form that filters by a value of a member: only its entries, or all others. */
export function FilterForm({ name, search, onAdd }: FilterFormProps) {
  const choices = CHOICES[name];
  const [value, setValue] = useState(choices?.[0]?.value ?? '');
  const [isExcluded, setExcluded] = useState(false);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onAdd({ name, value: value.trim(), isExcluded });
      }}
    >
      <Stack>
        <ValueField name={name} search={search} value={value} onChange={setValue} />
        {name !== 'allowed' && (
          <Switch label={texts.exclude} checked={isExcluded} onChange={({ currentTarget }) => setExcluded(currentTarget.checked)} />
        )}
        <Group justify="flex-end">
          <Button type="submit" disabled={value.trim() === ''}>
            {texts.add}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

type Kind = Schemas['admin.Decision']['kind'];

const KINDS: Readonly<Record<Kind, true>> = { access: true, repeat: true, admin: true, auth: true, evaluation: true };

/** The values of the members that have only few. */
const CHOICES: { readonly [Name in FilterName]?: readonly { readonly value: string; readonly label: string }[] } = {
  allowed: [
    { value: 'false', label: commonTexts.denied },
    { value: 'true', label: commonTexts.allowed },
  ],
  kind: Object.keys(KINDS).map((value) => ({ value, label: value })),
};

interface ValueFieldProps extends Pick<FilterFormProps, 'name' | 'search'> {
  readonly value: string;
  onChange(value: string): void;
}

function ValueField({ name, search, value, onChange }: ValueFieldProps) {
  const { isAdmin } = useAuditRights();
  const label = decisionsTexts.filters[name];
  const choices = CHOICES[name];
  const picked = { label, value: value === '' ? undefined : value, onChange: (next: string | undefined) => onChange(next ?? '') };
  if (choices !== undefined)
    return <NativeSelect label={label} data={[...choices]} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)} />;
  if (isAdmin && name === 'userId') return <UserPicker {...picked} />;
  if (isAdmin && name === 'policyId') return <PolicyPicker {...picked} />;
  if (FACETS.some((each) => each === name)) return <KnownValueField name={name} search={search} value={value} onChange={onChange} />;
  return <TextInput label={label} data-autofocus value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)} />;
}

/** A field that suggests the most frequent values of the entries. */
function KnownValueField({ name, search, value, onChange }: ValueFieldProps) {
  const [now] = useState(() => Date.now());
  const { data: items = [] } = useQuery(valuesQuery(search, name, now));
  return (
    <SuggestionField
      label={decisionsTexts.filters[name]}
      data-autofocus
      value={value}
      groups={[{ group: texts.frequent, items }]}
      onChange={onChange}
    />
  );
}
