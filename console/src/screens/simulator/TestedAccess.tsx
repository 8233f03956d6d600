import { Button, SimpleGrid, Stack, Text, Textarea } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { Dialog } from '../../components/Dialog.tsx';
import { AccessAnswer, type AccessTest } from '../../components/decision/AccessAnswer.tsx';
import { UnreadableDraft } from '../../components/draft/UnreadableDraft.tsx';
import type { LinkedDraft } from '../../components/draft/useLinkedDraft.ts';
import { commonTexts } from '../../texts/common.ts';
import { draftTexts } from '../../texts/draft.ts';
import { simulatorTexts as texts } from '../../texts/simulator.ts';
import { DraftDifference } from './DraftDifference.tsx';
import { toCurl } from './search.ts';

/** The answer to a question: the decision, and its explanation. With a draft, the answer under the draft stands beside it. */
export function TestedAccess({ test, linked }: { readonly test: AccessTest; readonly linked: LinkedDraft }) {
  const { draft, isInAddress, isUnreadable, discard } = linked;
  const drafted = draft && { ...test, draft };
  return (
    <Stack>
      {isUnreadable && <UnreadableDraft />}
      {drafted && <DraftDifference live={test} drafted={drafted} />}
      <SimpleGrid cols={{ base: 1, ...(drafted && { lg: 2 }) }} style={{ alignItems: 'start' }}>
        <AccessAnswer test={test} title={draftTexts.inForce} actions={<CopyCurl test={test} />} />
        {drafted && <AccessAnswer test={drafted} title={draftTexts.withDraft} actions={<CopyCurl test={drafted} />} />}
      </SimpleGrid>
      {(drafted || isUnreadable) && (
        <Button variant="default" style={{ alignSelf: 'flex-start' }} onClick={discard}>
          {draftTexts.discard}
        </Button>
      )}
      <Text size="xs" c="dimmed">
        {drafted === undefined ? texts.shareable : texts.shareableDraft(isInAddress)}
      </Text>
    </Stack>
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
