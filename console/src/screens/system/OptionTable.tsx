import { Code, Stack, Text, TextInput, Title } from '@mantine/core';
import type { Schemas } from '../../api/client.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { useDelayedText } from '../../components/useTypedText.ts';
import { systemTexts as texts } from '../../texts/service.ts';

type Option = Schemas['admin.SystemStatus']['options'][number];

/** Properties of the table. */
interface OptionTableProps {
  readonly options: readonly Option[];
  readonly search: string;
  onSearch(search: string): void;
}

/** The settings of the process with their source. Secrets are hidden by the service. */
export function OptionTable({ options, search, onSearch }: OptionTableProps) {
  const input = useDelayedText(search, onSearch);
  const wanted = search.trim().toLowerCase();
  const shown = options.filter(({ name, group }) => `${name} ${group}`.toLowerCase().includes(wanted));
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {texts.options}
      </Title>
      <TextInput data-search maw={320} aria-label={texts.filter} placeholder={texts.filter} {...input} />
      <DataTable label={texts.options} columns={COLUMNS} items={shown} idOf={({ name }) => name} />
    </Stack>
  );
}

function OptionValue({ value }: { readonly value: Option['value'] | undefined }) {
  const text = Array.isArray(value) ? value.join(', ') : String(value ?? '');
  return text === '' ? '—' : <Code style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}>{text}</Code>;
}

const COLUMNS: readonly Column<Option>[] = [
  {
    key: 'name',
    title: texts.option,
    render: ({ name, group }) => (
      <>
        {name}{' '}
        <Text span size="xs" c="dimmed">
          {group}
        </Text>
      </>
    ),
  },
  {
    key: 'value',
    title: texts.value,
    render: ({ value, isHidden }) => (isHidden === true ? <Text c="dimmed">{texts.hidden}</Text> : <OptionValue value={value} />),
  },
  { key: 'source', title: texts.source, width: 140, render: ({ source }) => texts.sources[source] },
];
