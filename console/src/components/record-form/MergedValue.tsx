import { Text } from '@mantine/core';
import { dataTexts } from '../../texts/data.ts';
import { type Field, type FormValue, isSecret, parseFormValue } from './form-values.ts';
import { NamedValue } from './NamedValue.tsx';

/** Properties of a value. */
interface MergedValueProps {
  readonly title: string;
  readonly field: Field;
  readonly value: FormValue | undefined;
}

/** A value of a version of a record, under the name of the version. Secret values are not shown. */
export function MergedValue({ title, field, value = null }: MergedValueProps) {
  const parsed = parseFormValue(field, value);
  return (
    <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <Text size="sm" component="div" style={{ whiteSpace: 'pre-wrap' }}>
        {isSecret(field) ? dataTexts.conflict.secret : <NamedValue field={field} value={'value' in parsed ? parsed.value : value} />}
      </Text>
    </div>
  );
}
