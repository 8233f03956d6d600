import { Alert, Button, Group, SimpleGrid, Stack, Text, Textarea } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { policiesOf } from '../../api/draft.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { AccessAnswer, type AccessTest } from '../../components/decision/AccessAnswer.tsx';
import { UnreadableDraft } from '../../components/draft/UnreadableDraft.tsx';
import type { LinkedDraft } from '../../components/draft/useLinkedDraft.ts';
import { commonTexts } from '../../texts/common.ts';
import { draftTexts } from '../../texts/draft.ts';
import { simulatorTexts as texts } from '../../texts/simulator.ts';
import { DraftDifference } from './DraftDifference.tsx';
import { toCurl } from './search.ts';

/** Properties of the answer. */
interface TestedAccessProps {
  readonly test: AccessTest;
  readonly linked: LinkedDraft;
  /** True if the form has another question. */
  readonly isOutdated: boolean;
  /** Asks with the draft, or without it. */
  onDraft(isUsed: boolean): void;
}

/** The answer to a question: the decision, and its explanation. With a draft, the answer under the draft stands beside it. */
export function TestedAccess({ test, linked, isOutdated, onDraft }: TestedAccessProps) {
  const { draft, isInAddress, isUnreadable, isLeftOut } = linked;
  const drafted = draft && { ...test, draft };
  return (
    <Stack>
      {isOutdated && (
        <Alert color="yellow" role="status">
          {texts.outdated}
        </Alert>
      )}
      {isUnreadable && <UnreadableDraft />}
      {(drafted || isUnreadable || isLeftOut) && <DraftUse linked={linked} onDraft={onDraft} />}
      <Stack {...(isOutdated && { style: { filter: 'grayscale(1)', opacity: 0.5 } })}>
        {drafted && <DraftDifference live={test} drafted={drafted} />}
        <SimpleGrid cols={{ base: 1, ...(drafted && { lg: 2 }) }} style={{ alignItems: 'start' }}>
          <AccessAnswer test={test} title={draftTexts.inForce} actions={<CopyCurl test={test} />} />
          {drafted && <AccessAnswer test={drafted} title={draftTexts.withDraft} actions={<CopyCurl test={drafted} />} />}
        </SimpleGrid>
      </Stack>
      <Text size="xs" c="dimmed">
        {drafted === undefined ? texts.shareable : texts.shareableDraft(isInAddress)}
      </Text>
    </Stack>
  );
}

/** Names the draft, or says that it is left out, with the buttons that change this. */
function DraftUse({ linked, onDraft }: Pick<TestedAccessProps, 'linked' | 'onDraft'>) {
  const { draft, isLeftOut, discard } = linked;
  if (isLeftOut) {
    return (
      <Group gap="sm">
        <Text size="sm">{draftTexts.leftOut}</Text>
        <Button size="xs" variant="default" onClick={() => onDraft(true)}>
          {draftTexts.compare}
        </Button>
      </Group>
    );
  }
  return (
    <Group gap="sm">
      {draft && <Text size="sm">{draftTexts.of(policiesOf(draft).join(', '))}</Text>}
      {draft && (
        <Button size="xs" variant="default" onClick={() => onDraft(false)}>
          {draftTexts.leaveOut}
        </Button>
      )}
      <Button size="xs" variant="default" onClick={discard}>
        {draftTexts.discard}
      </Button>
    </Group>
  );
}

/** Copies a question as a command. Browsers refuse to copy on pages without TLS: the command is then shown. */
function CopyCurl({ test }: { readonly test: AccessTest }) {
  const { copy, copied, error, reset } = useClipboard();
  const command = toCurl(location.origin, test);
  return (
    <>
      <Button size="xs" variant="default" onClick={() => copy(command)}>
        {copied ? commonTexts.copied : texts.copyCurl}
      </Button>
      <Dialog opened={error !== null} onClose={reset} title={texts.copyCurl}>
        <Textarea
          label={texts.command}
          description={texts.notCopied}
          readOnly
          autosize
          data-autofocus
          ff="monospace"
          value={command}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
      </Dialog>
    </>
  );
}
