import { ActionIcon, Box, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useRef } from 'react';
import { builderTexts } from '../../texts/condition-builder.ts';
import { useEmptyMistake } from '../useEmptyMistake.ts';
import { useBuilder } from './builder-context.ts';
import classes from './condition.module.css';
import type { RelatedForm } from './condition-json.ts';
import { mistakesAt, mistakesOf } from './condition-mistakes.ts';
import type { PathOption } from './condition-paths.ts';
import { OperandInput } from './OperandInput.tsx';
import { initialValue, isReference, toReference } from './operand-forms.ts';
import { ReferenceToggle } from './ReferenceToggle.tsx';
import { removeLink, renameLink } from './related-edits.ts';
import { linkFields, suggestLinks } from './related-suggestions.ts';

const texts = builderTexts.related;

/** Properties of the links. */
interface RelatedLinksProps {
  readonly form: RelatedForm;
  /** The path of the member `on`. */
  readonly at: string;
  onChange(form: RelatedForm): void;
}

/** The links: fields of the related records, and the path or the fixed value that each equals. */
export function RelatedLinks({ form, at, onChange }: RelatedLinksProps) {
  const builder = useBuilder();
  const { catalogue, issues } = builder;
  const add = useRef<HTMLButtonElement>(null);
  const fields = linkFields(catalogue, form.resource);
  const eq = catalogue.operators.find(({ name }) => name === 'eq');
  const free = fields.filter(({ path }) => !Object.hasOwn(form.on, path));
  const suggested = suggestLinks(form.resource, builder);
  const next = free.find(({ path }) => suggested[path] !== undefined) ?? free[0];
  const mistake = mistakesOf(issues, at);
  return (
    <fieldset className={classes['item'] ?? ''} aria-label={texts.links}>
      <Stack gap={6}>
        <Text size="sm" fw={500} aria-hidden="true">
          {texts.links}
        </Text>
        {Object.entries(form.on).map(([field, value], index) => (
          <LinkRow
            // biome-ignore lint/suspicious/noArrayIndexKey: a link keeps its field focused while it changes
            key={index}
            number={index + 1}
            field={field}
            value={value}
            fields={fields.filter(({ path }) => path === field || !Object.hasOwn(form.on, path))}
            error={mistakesAt(issues, `${at}.${field}`)}
            suggestion={suggested[field]}
            onField={(name) => onChange(renameLink(form, field, name))}
            onValue={(changed) => onChange({ ...form, on: { ...form.on, [field]: changed } })}
            onRemove={() => {
              onChange(removeLink(form, field));
              add.current?.focus();
            }}
          />
        ))}
        {mistake !== undefined && (
          <Text size="xs" c="var(--mantine-color-error)">
            {mistake}
          </Text>
        )}
        <Button
          ref={add}
          size="compact-xs"
          variant="default"
          style={{ alignSelf: 'flex-start' }}
          // Without a free field, the button keeps its place, because the focus returns to it.
          {...(next === undefined && { 'data-disabled': true, 'aria-disabled': true })}
          onClick={() => next && onChange({ ...form, on: { ...form.on, [next.path]: suggested[next.path] ?? initialValue(eq, next) } })}
        >
          {texts.addLink}
        </Button>
      </Stack>
    </fieldset>
  );
}

interface LinkRowProps {
  readonly number: number;
  readonly field: string;
  readonly value: unknown;
  /** The fields that the link can use. */
  readonly fields: readonly PathOption[];
  readonly error: string | undefined;
  /** The reference that the definitions suggest. */
  readonly suggestion: string | undefined;
  onField(field: string): void;
  onValue(value: unknown): void;
  onRemove(): void;
}

/** A field of the related records, and the value that it equals. */
function LinkRow({ number, field, value, fields, error, suggestion, onField, onValue, onRemove }: LinkRowProps) {
  const { catalogue, progress } = useBuilder();
  const option = fields.find(({ path }) => path === field);
  const eq = catalogue.operators.find(({ name }) => name === 'eq');
  const names = fields.map(({ path }) => path);
  const isReferring = isReference(value);
  const words = option?.values === undefined ? builderTexts.emptyValue : builderTexts.emptyChoice;
  const shown = useEmptyMistake({ isEmpty: value === '', mistake: error, words, progress });
  return (
    <fieldset className={classes['item'] ?? ''} aria-label={texts.link(number)}>
      <Group gap={6} align="flex-start">
        <NativeSelect
          aria-label={texts.field}
          className={classes['operator'] ?? ''}
          data={names.includes(field) ? names : [field, ...names]}
          value={field}
          onChange={({ currentTarget }) => onField(currentTarget.value)}
        />
        <Text size="sm" mt={8} className={classes['is'] ?? ''}>
          {texts.is}
        </Text>
        <Box className={classes['operand'] ?? ''} onBlur={shown.onBlur}>
          <OperandInput operator={eq} option={option} value={value} error={shown.error} onChange={onValue} />
        </Box>
        <ReferenceToggle
          isReferring={isReferring}
          onToggle={() => onValue(isReferring ? initialValue(eq, option) : (suggestion ?? toReference('user.id')))}
        />
        <ActionIcon variant="subtle" color="gray" mt={2} size="lg" aria-label={texts.removeLink(field)} onClick={onRemove}>
          <span aria-hidden="true">✕</span>
        </ActionIcon>
      </Group>
    </fieldset>
  );
}
