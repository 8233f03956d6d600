import { Alert, Button, Code, Group, Text } from '@mantine/core';
import { policyTexts } from '../../texts/policy.ts';

const texts = policyTexts.text;

/** Properties of the message. */
interface UnreadableTextProps {
  /** The first mistake in the text. */
  readonly mistake: string;
  onOpen(): void;
  onDiscard(): void;
}

/**
 * Says that the text of a policy cannot be read, and leads to it. Until then the forms would show another version than the text, and one of both
 * would be lost.
 */
export function UnreadableText({ mistake, onOpen, onDiscard }: UnreadableTextProps) {
  return (
    <Alert color="red" title={texts.unreadable} role="alert">
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {mistake}
      </Code>
      <Text size="sm" my="sm">
        {texts.correct}
      </Text>
      <Group>
        <Button size="xs" data-autofocus onClick={onOpen}>
          {texts.open}
        </Button>
        <Button size="xs" variant="default" onClick={onDiscard}>
          {texts.discard}
        </Button>
      </Group>
    </Alert>
  );
}
