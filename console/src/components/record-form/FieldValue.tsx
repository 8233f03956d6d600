import { Badge, Code, Group, Text } from '@mantine/core';
import { commonTexts } from '../../texts/common.ts';
import { TextLink } from '../TextLink.tsx';
import { Time } from '../Time.tsx';
import type { Field } from './form-values.ts';

/** Characters of a long text in a table. */
const SHORT = 120;
/** Characters of an item of a list in a table. */
const SHORT_ITEM = 40;
/** Maximum characters of a word that stays in one line, also with hyphens, such as a date or a slug. */
const UNBROKEN = 24;

/** A value of a record in a table. */
export function FieldValue({
  field,
  value,
  label,
}: {
  readonly field: Field;
  readonly value: unknown;
  readonly label?: string | undefined;
}) {
  if (value === null || value === undefined) {
    return (
      <Text span size="sm" c="dimmed">
        —
      </Text>
    );
  }
  if (field.type === 'boolean') return value === true ? commonTexts.yes : commonTexts.no;
  if (field.type === 'timestamp') return <Time at={String(value)} />;
  if (field.type === 'enum') return <Badge color="gray">{String(value)}</Badge>;
  if (field.to !== undefined) {
    return (
      <TextLink to="/data/$resource/$id" params={{ resource: field.to, id: String(value) }} size="sm">
        {label ?? String(value)}
      </TextLink>
    );
  }
  if (Array.isArray(value)) {
    return (
      <Group gap={4}>
        {value.slice(0, 5).map((item) => (
          <Badge key={JSON.stringify(item)} color="gray">
            {shorten(typeof item === 'string' ? item : JSON.stringify(item), SHORT_ITEM)}
          </Badge>
        ))}
        {value.length > 5 && '…'}
      </Group>
    );
  }
  if (typeof value === 'object') return <Code>{shorten(JSON.stringify(value))}</Code>;
  return <PlainText text={shorten(String(value))} />;
}

function PlainText({ text }: { readonly text: string }) {
  const isWord = text.length <= UNBROKEN && !text.includes(' ');
  return isWord ? <span className="unbroken">{text}</span> : text;
}

function shorten(text: string, length = SHORT): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
