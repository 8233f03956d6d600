import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { builderTexts as texts } from '../../texts/condition-builder.ts';
import { useBuilder } from './builder-context.ts';
import { ConditionItem } from './ConditionItem.tsx';
import { emptyComparison } from './condition-json.ts';
import { mistakesOf } from './condition-mistakes.ts';
import { createItemKeys, moveItem, removeAt } from './list-edits.ts';
import { newRelated } from './related-suggestions.ts';

/** Maximum depth of nested conditions on related records. */
const MAX_NESTED_RELATED = 2;

/** Properties of a list of conditions. */
export interface ConditionListProps {
  readonly conditions: readonly unknown[];
  readonly at: string;
  onChange(conditions: readonly unknown[]): void;
}

/** The conditions of a rule or group, with buttons that add more. */
export function ConditionList({ conditions, at, onChange }: ConditionListProps) {
  const builder = useBuilder();
  const [keys] = useState(createItemKeys);
  const { hasExpressions, issues, aliases } = builder;
  const add = (condition: unknown) => onChange([...conditions, condition]);
  const mistake = mistakesOf(issues, at);
  return (
    <Stack gap="xs">
      {mistake !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)">
          {mistake}
        </Text>
      )}
      {conditions.map((condition, index) => (
        <ConditionItem
          key={keys.of(condition, index)}
          condition={condition}
          at={`${at}.${index}`}
          place={{ index, count: conditions.length }}
          onChange={(next) => onChange(keys.replaceAt(conditions, index, next))}
          onRemove={() => onChange(removeAt(conditions, index))}
          onMove={(to) => onChange(moveItem(conditions, index, to))}
        />
      ))}
      <Group gap="xs">
        <Button size="compact-xs" variant="default" onClick={() => add(emptyComparison())}>
          {texts.add.condition}
        </Button>
        <Button size="compact-xs" variant="default" onClick={() => add({ anyOf: [emptyComparison()] })}>
          {texts.add.group}
        </Button>
        {aliases.length < MAX_NESTED_RELATED && (
          <Button size="compact-xs" variant="default" onClick={() => add(newRelated(builder))}>
            {texts.add.related}
          </Button>
        )}
        {hasExpressions && (
          <Button size="compact-xs" variant="default" onClick={() => add({ expression: '' })}>
            {texts.add.expression}
          </Button>
        )}
      </Group>
    </Stack>
  );
}
