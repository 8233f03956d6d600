import { Table, Text } from '@mantine/core';
import type { Row } from '../../api/records.ts';
import { dataTexts } from '../../texts/data.ts';
import type { Field } from './form-values.ts';
import { NamedValue } from './NamedValue.tsx';

/** The values of some fields of a record. */
export function FieldTable({ fields, row }: { readonly fields: readonly Field[]; readonly row: Row }) {
  return (
    <Table variant="vertical" withTableBorder layout="fixed">
      <Table.Tbody>
        {fields.map((field) => (
          <Table.Tr key={field.name}>
            <Table.Th w={140}>{field.name}</Table.Th>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              {field.name in row ? (
                <NamedValue field={field} value={row[field.name]} />
              ) : (
                <Text c="dimmed" size="sm">
                  {dataTexts.record.unset}
                </Text>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
