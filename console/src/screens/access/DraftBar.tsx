import { Button, Group, Switch, Text } from '@mantine/core';
import { UnreadableDraft } from '../../components/draft/UnreadableDraft.tsx';
import type { LinkedDraft } from '../../components/draft/useLinkedDraft.ts';
import { Panel } from '../../components/Panel.tsx';
import { draftTexts as texts } from '../../texts/draft.ts';

/** Properties of the bar. */
export interface DraftBarProps {
  readonly linked: LinkedDraft;
  readonly isCompared: boolean;
  onCompare(isCompared: boolean): void;
}

/** The switch between the policies in force and the comparison with a draft, or the reason why the draft cannot be read. */
export function DraftBar({ linked: { draft, isInAddress, isUnreadable, discard }, isCompared, onCompare }: DraftBarProps) {
  if (isUnreadable) return <UnreadableDraft />;
  if (draft === undefined) return null;
  return (
    <Panel title={texts.title} description={texts.compareHelp}>
      <Group gap="md">
        <Switch label={texts.compare} checked={isCompared} onChange={({ currentTarget }) => onCompare(currentTarget.checked)} />
        <Button size="xs" variant="default" onClick={discard}>
          {texts.discard}
        </Button>
        <Text size="xs" c="dimmed">
          {isInAddress ? texts.inAddress : texts.tooLong}
        </Text>
      </Group>
    </Panel>
  );
}
