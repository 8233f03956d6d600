import { Group, Switch } from '@mantine/core';
import type { ReactNode } from 'react';
import { NumberBox } from '../../components/NumberBox.tsx';
import { DEFAULT_PRIORITY, type DraftJson, numberOf } from './policy-draft.ts';

/** Properties of the fields. */
interface PriorityFieldsProps {
  /** The policy or the rule. */
  readonly of: DraftJson;
  readonly texts: { readonly priority: string; readonly priorityHelp: string; readonly isActive: string };
  readonly error: ReactNode;
  /** True to report a priority when the field is left. */
  readonly reportsOnLeaving?: boolean;
  onChange(name: 'priority' | 'isActive', value: unknown): void;
}

/** The priority of a policy or a rule, and the switch that makes it active. */
export function PriorityFields({ of, texts, error, reportsOnLeaving = false, onChange }: PriorityFieldsProps) {
  return (
    <Group align="flex-start" wrap="nowrap">
      <NumberBox
        label={texts.priority}
        description={texts.priorityHelp}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        w={200}
        isInteger
        reportsOnLeaving={reportsOnLeaving}
        value={numberOf(of, 'priority', DEFAULT_PRIORITY)}
        error={error}
        onChange={(value) => onChange('priority', value)}
      />
      <Switch
        mt={33}
        label={texts.isActive}
        checked={of['isActive'] !== false}
        onChange={({ currentTarget }) => onChange('isActive', currentTarget.checked)}
      />
    </Group>
  );
}
