import { ActionIcon, Menu } from '@mantine/core';
import { builderTexts } from '../../texts/condition-builder.ts';
import type { ConditionItemProps } from './ConditionItem.tsx';
import { negate, readCondition, writeCondition } from './condition-json.ts';

const texts = builderTexts.menu;

/** The actions on a condition: negate, group, move, remove. */
export function ConditionMenu({ condition, place: { index, count }, onChange, onRemove, onMove }: ConditionItemProps) {
  const form = readCondition(condition);
  const isGroup = form.type === 'allOf' || form.type === 'anyOf';
  const [only, ...others] = isGroup ? form.of : [];
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={texts.label} mt={2}>
          ⋯
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onChange(negate(condition))}>{form.type === 'not' ? texts.unnegate : texts.negate}</Menu.Item>
        <Menu.Item onClick={() => onChange({ anyOf: [condition] })}>{texts.wrap}</Menu.Item>
        {isGroup && only !== undefined && others.length === 0 && <Menu.Item onClick={() => onChange(only)}>{texts.unwrap}</Menu.Item>}
        {form.type === 'comparison' && (
          <Menu.Item onClick={() => onChange(writeCondition({ ...form, ifExists: !form.ifExists }))}>
            {form.ifExists ? texts.unknown : texts.ifExists}
          </Menu.Item>
        )}
        <Menu.Item disabled={index === 0} onClick={() => onMove(index - 1)}>
          {texts.up}
        </Menu.Item>
        <Menu.Item disabled={index === count - 1} onClick={() => onMove(index + 1)}>
          {texts.down}
        </Menu.Item>
        <Menu.Item color="red" onClick={onRemove}>
          {texts.remove}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
