import { Card, Group, SegmentedControl, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Properties of a choice. */
interface MergeChoiceProps {
  /** The name of what both users have changed. */
  readonly name: string;
  readonly texts: { readonly mine: string; readonly theirs: string; choose(name: string): string };
  readonly chosen: 'mine' | 'theirs';
  /** True while the merge is saved. */
  readonly disabled?: boolean;
  onChoose(side: 'mine' | 'theirs'): void;
  /** The value before the changes, and after each of them. */
  readonly children: ReactNode;
}

/** A choice between the changes of two users, with the three values. */
export function MergeChoice({ name, texts, chosen, disabled = false, onChoose, children }: MergeChoiceProps) {
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between" mb="xs">
        <Text fw={600}>{name}</Text>
        <SegmentedControl
          aria-label={texts.choose(name)}
          value={chosen}
          disabled={disabled}
          data={[
            { value: 'mine', label: texts.mine },
            { value: 'theirs', label: texts.theirs },
          ]}
          onChange={(side) => onChoose(side as 'mine' | 'theirs')}
        />
      </Group>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>{children}</SimpleGrid>
    </Card>
  );
}
