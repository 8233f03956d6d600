import { Alert, Select, Stack, Table, Text, Title } from '@mantine/core';
import type { Field } from '../../../components/record-form/form-values.ts';
import { dataTexts } from '../../../texts/data.ts';
import { isolate } from '../../../texts/sentence.ts';
import { type ColumnMapping, changeMapping, leftOut, missingFields } from './column-mapping.ts';
import type { Delimiter } from './csv-records.ts';
import { describeField } from './field-formats.ts';
import type { ImportFile } from './import-file.ts';

const texts = dataTexts.importing.mapping;

/** Properties of the mapping. */
interface ColumnFieldsProps {
  readonly file: ImportFile;
  readonly mapping: ColumnMapping;
  readonly fields: readonly Field[];
  onChange(mapping: ColumnMapping): void;
  /** Reads the columns of a CSV file again, with another delimiter. */
  onSplit(delimiter: Delimiter): void;
}

/** The columns of a file, each with the field that it is imported into. */
export function ColumnFields({ file: { columns, type, delimiter }, mapping, fields, onChange, onSplit }: ColumnFieldsProps) {
  const missing = missingFields(fields, mapping);
  const out = leftOut(columns, mapping);
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {texts.title}
      </Title>
      {type === 'text/csv' && <DelimiterSelect delimiter={delimiter} onChange={onSplit} />}
      <Table layout="fixed" aria-label={texts.title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.column}</Table.Th>
            <Table.Th>{texts.field}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {columns.map((column, index) => {
            const name = column === '' ? texts.unnamed(index + 1) : column;
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: two columns can have the same name, and columns never change places
              <Table.Tr key={index}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  <Text size="sm" lineClamp={3}>
                    {name}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <Select
                    aria-label={texts.fieldOf(name)}
                    placeholder={texts.leaveOut}
                    clearable
                    clearButtonProps={{ 'aria-label': texts.leaveOut }}
                    data={optionsOf(fields)}
                    value={mapping[index] ?? null}
                    description={describeField(fields.find((field) => field.name === mapping[index]))}
                    inputWrapperOrder={['label', 'input', 'description', 'error']}
                    onChange={(field) => onChange(changeMapping(mapping, index, field))}
                  />
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
      {out.length > 0 && (
        <Text size="sm" lineClamp={4} style={{ overflowWrap: 'anywhere' }}>
          {texts.leftOut(out.map(isolate).join(', '))}
        </Text>
      )}
      {missing.length > 0 && <Alert color="yellow">{texts.missing(missing.map(isolate).join(', '))}</Alert>}
    </Stack>
  );
}

function optionsOf(fields: readonly Field[]) {
  const namesOf = (isSet: boolean): string[] => fields.filter(({ readOnly }) => readOnly === isSet).map(({ name }) => name);
  return [
    { group: texts.own, items: namesOf(false) },
    { group: texts.set, items: namesOf(true) },
  ];
}

function DelimiterSelect({ delimiter, onChange }: { readonly delimiter: Delimiter; onChange(delimiter: Delimiter): void }) {
  const { delimiters, delimiter: label } = dataTexts.importing;
  return (
    <Select
      label={label}
      w={160}
      allowDeselect={false}
      data={Object.entries(delimiters).map(([value, name]) => ({ value, label: name }))}
      value={delimiter}
      onChange={(next) => next !== null && onChange(next as Delimiter)}
    />
  );
}
