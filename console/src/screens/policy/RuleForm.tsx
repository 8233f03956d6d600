import { Button, Group, Input, NativeSelect, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { ConditionBuilder } from '../../components/condition/ConditionBuilder.tsx';
import { mistakesOf } from '../../components/condition/condition-mistakes.ts';
import { policyTexts } from '../../texts/policy.ts';
import { PriorityFields } from './PriorityFields.tsx';
import { type DraftJson, textOf, withText } from './policy-draft.ts';
import type { RuleCardProps } from './RuleCard.tsx';

const texts = policyTexts.rules;

/** Properties of the form. */
export interface RuleFormProps extends RuleCardProps {
  readonly rule: DraftJson;
  /** The path of the rule. */
  readonly at: string;
}

/** The form of a rule: resource, action, effect, priority and conditions. */
export function RuleForm(props: RuleFormProps) {
  const { rule, at, catalogue, draft, validation, isShown, isNew, onRule, onRemove, onDuplicate } = props;
  const form = useRef<HTMLDivElement>(null);
  // The card has been brought into view before its form was loaded.
  useEffect(() => {
    if (isShown) form.current?.closest('[data-path]')?.scrollIntoView({ block: 'center' });
    if (isNew) form.current?.querySelector<HTMLElement>('input')?.focus({ preventScroll: true });
  }, [isShown, isNew]);
  const { id: _, ...copy } = rule;
  const { conditions = [] } = rule;
  return (
    <Stack ref={form} gap="sm">
      <RuleMembers {...props} />
      <Input.Wrapper label={texts.conditions} labelElement="div" error={Array.isArray(conditions) ? undefined : texts.raw}>
        {Array.isArray(conditions) && (
          <ConditionBuilder
            catalogue={catalogue}
            resource={textOf(rule, 'resource')}
            conditions={conditions}
            at={`${at}.conditions`}
            issues={validation.result?.errors ?? []}
            progress={validation}
            hasExpressions={textOf(draft, 'type') === 'CUSTOM'}
            onChange={(next) => onRule({ ...rule, conditions: next })}
          />
        )}
      </Input.Wrapper>
      <Group>
        <Button size="xs" variant="default" onClick={() => onDuplicate(copy)}>
          {texts.duplicate}
        </Button>
        <Button size="xs" variant="light" color="red" onClick={onRemove}>
          {texts.remove}
        </Button>
      </Group>
    </Stack>
  );
}

function RuleMembers({ rule, at, catalogue, validation, onRule }: RuleFormProps) {
  const set = (name: string, value: unknown) => onRule({ ...rule, [name]: value });
  const errorOf = (name: string) => mistakesOf(validation.result?.errors ?? [], `${at}.${name}`);
  const [resource, action] = [textOf(rule, 'resource'), textOf(rule, 'action')];
  return (
    <>
      <Group align="flex-start">
        <SegmentedControl
          aria-label={texts.effect}
          mt={25}
          data={['ALLOW', 'DENY']}
          value={textOf(rule, 'effect') || 'ALLOW'}
          onChange={(effect) => set('effect', effect)}
        />
        <NativeSelect
          label={texts.action}
          w={170}
          data={withPresent([{ value: '*', label: texts.anyAction }, ...catalogue.ruleActions], action)}
          value={action}
          error={errorOf('action')}
          onChange={({ currentTarget }) => set('action', currentTarget.value)}
        />
        <NativeSelect
          label={texts.resource}
          w={200}
          data={withPresent(
            [{ value: '*', label: texts.anyResource }, ...catalogue.definitions.map(({ name }) => name), '_Decision'],
            resource,
          )}
          value={resource}
          error={errorOf('resource')}
          onChange={({ currentTarget }) => set('resource', currentTarget.value)}
        />
        <PriorityFields
          of={rule}
          texts={texts}
          // Rules change places by their priority.
          reportsOnLeaving
          error={errorOf('priority')}
          onChange={set}
        />
      </Group>
      <TextInput
        label={texts.description}
        value={textOf(rule, 'description')}
        error={errorOf('description')}
        onChange={({ currentTarget }) => onRule(withText(rule, 'description', currentTarget.value))}
      />
    </>
  );
}

type Choice = string | { readonly value: string; readonly label: string };

/** Returns the choices with the present value, which may be none of them. */
function withPresent(choices: readonly Choice[], present: string): { value: string; label: string }[] {
  const items = choices.map((choice) => (typeof choice === 'string' ? { value: choice, label: choice } : choice));
  return items.some(({ value }) => value === present) ? items : [{ value: present, label: present }, ...items];
}
