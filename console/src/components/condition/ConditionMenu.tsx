import { ActionIcon } from '@mantine/core';
import { builderTexts } from '../../texts/condition-builder.ts';
import { ActionMenu, type MenuAction } from '../ActionMenu.tsx';
import type { ConditionItemProps } from './ConditionItem.tsx';
import { negate, readCondition, writeCondition } from './condition-json.ts';

const texts = builderTexts.menu;

/** The actions on a condition: negate, group, move, remove. */
export function ConditionMenu({ condition, place: { index, count }, onChange, onRemove, onMove }: ConditionItemProps) {
  const form = readCondition(condition);
  const isGroup = form.type === 'allOf' || form.type === 'anyOf';
  const [only, ...others] = isGroup ? form.of : [];
  const isOnlyItem = isGroup && only !== undefined && others.length === 0;
  const actions: readonly (MenuAction | false)[] = [
    { key: 'negate', label: form.type === 'not' ? texts.unnegate : texts.negate, perform: () => onChange(negate(condition)) },
    { key: 'wrap', label: texts.wrap, perform: () => onChange({ anyOf: [condition] }) },
    isOnlyItem && { key: 'unwrap', label: texts.unwrap, perform: () => onChange(only) },
    form.type === 'comparison' && {
      key: 'ifExists',
      label: form.ifExists ? texts.unknown : texts.ifExists,
      perform: () => onChange(writeCondition({ ...form, ifExists: !form.ifExists })),
    },
    { key: 'up', label: texts.up, isDisabled: index === 0, perform: () => onMove(index - 1) },
    { key: 'down', label: texts.down, isDisabled: index === count - 1, perform: () => onMove(index + 1) },
    { key: 'remove', label: texts.remove, isDangerous: true, perform: onRemove },
  ];
  return (
    <ActionMenu
      actions={actions.filter((action) => action !== false)}
      button={(props) => (
        <ActionIcon variant="subtle" color="gray" aria-label={texts.label} mt={2} {...props}>
          ⋯
        </ActionIcon>
      )}
    />
  );
}
