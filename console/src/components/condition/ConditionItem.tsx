import { Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { builderTexts as texts } from '../../texts/condition-builder.ts';
import { createPart, LazyPart } from '../LazyPart.tsx';
import { useBuilder } from './builder-context.ts';
import { ComparisonRow } from './ComparisonRow.tsx';
import { ConditionList } from './ConditionList.tsx';
import { ConditionMenu } from './ConditionMenu.tsx';
import classes from './condition.module.css';
import { type ConditionForm, type GroupForm, readCondition, switchGroup, writeCondition } from './condition-json.ts';
import { mistakesOfForm } from './condition-mistakes.ts';
import type { ExpressionInputProps } from './ExpressionInput.tsx';
import type { RawConditionInputProps } from './RawConditionInput.tsx';
import type { RelatedInputProps } from './RelatedInput.tsx';

// Most conditions are comparisons.
const expressionInput = createPart<ExpressionInputProps>(async () => (await import('./ExpressionInput.tsx')).ExpressionInput);
const relatedInput = createPart<RelatedInputProps>(async () => (await import('./RelatedInput.tsx')).RelatedInput);
const rawInput = createPart<RawConditionInputProps>(async () => (await import('./RawConditionInput.tsx')).RawConditionInput);

/** Properties of a condition. */
export interface ConditionItemProps {
  readonly condition: unknown;
  readonly at: string;
  readonly place: { readonly index: number; readonly count: number };
  onChange(condition: unknown): void;
  onRemove(): void;
  onMove(to: number): void;
}

/** One condition: a comparison, a group, a negation or an expression, with its menu. */
export function ConditionItem(props: ConditionItemProps) {
  const { at, place } = props;
  return (
    <fieldset className={classes['item'] ?? ''} aria-label={texts.rule(place.index + 1)} data-path={at}>
      <Group gap={4} align="flex-start" wrap="nowrap">
        <div className={classes['body'] ?? ''}>
          <ConditionBody {...props} />
        </div>
        <ConditionMenu {...props} />
      </Group>
    </fieldset>
  );
}

/** The form of a condition, and the mistakes of its members that have no field. */
function ConditionBody(props: ConditionItemProps) {
  const { condition, at } = props;
  const { issues } = useBuilder();
  const form = readCondition(condition);
  const mistake = mistakesOfForm(issues, at, form);
  return (
    <>
      <ConditionFields {...props} form={form} />
      {mistake !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)">
          {mistake}
        </Text>
      )}
    </>
  );
}

function ConditionFields({ form, ...props }: ConditionItemProps & { readonly form: ConditionForm }) {
  const { at, onChange } = props;
  switch (form.type) {
    case 'comparison':
      return <ComparisonRow form={form} at={at} onChange={(next) => onChange(writeCondition(next))} />;
    case 'expression':
      return (
        <LazyPart
          part={expressionInput}
          props={{ at, value: form.expression, onChange: (expression) => onChange(writeCondition({ ...form, expression })) }}
          lines={2}
        />
      );
    case 'not':
      return (
        <Stack gap={4} className={classes['group'] ?? ''}>
          <Text size="sm" fw={600}>
            {texts.not}
          </Text>
          <ConditionBody {...props} condition={form.of} at={`${at}.not`} onChange={(of) => onChange(writeCondition({ ...form, of }))} />
        </Stack>
      );
    case 'related':
      return (
        <LazyPart part={relatedInput} props={{ form, at: `${at}.related`, onChange: (next) => onChange(writeCondition(next)) }} lines={4} />
      );
    case 'raw':
      return <LazyPart part={rawInput} props={{ json: form.json, onChange }} lines={3} />;
    default:
      return <ConditionGroup form={form} at={at} onChange={onChange} />;
  }
}

interface ConditionGroupProps {
  readonly form: GroupForm;
  readonly at: string;
  onChange(condition: unknown): void;
}

function ConditionGroup({ form, at, onChange }: ConditionGroupProps) {
  return (
    <Stack gap="xs" className={classes['group'] ?? ''}>
      <SegmentedControl
        size="xs"
        w="fit-content"
        aria-label={texts.join}
        value={form.type}
        data={[
          { value: 'anyOf', label: texts.any },
          { value: 'allOf', label: texts.all },
        ]}
        onChange={(type) => type !== form.type && onChange(switchGroup(form))}
      />
      <ConditionList conditions={form.of} at={`${at}.${form.type}`} onChange={(of) => onChange(writeCondition({ ...form, of }))} />
    </Stack>
  );
}
