import { Alert, Button, SimpleGrid, Stack, Text } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { AccessAnswer, type AccessTest } from '../../components/decision/AccessAnswer.tsx';
import { commonTexts } from '../../texts/common.ts';
import { simulatorTexts as texts } from '../../texts/simulator.ts';
import { DraftDifference } from './DraftDifference.tsx';
import { toCurl } from './search.ts';
import { useSimulatorDraft } from './useSimulatorDraft.ts';

/** The answer to a question: the decision, and its explanation. With a draft, the answer under the draft stands beside it. */
export function TestedAccess({ test }: { readonly test: AccessTest }) {
  const { draft, isInAddress, isUnreadable, discard } = useSimulatorDraft();
  const drafted = draft && { ...test, draft };
  return (
    <Stack>
      {isUnreadable && (
        <Alert color="yellow" title={texts.unreadable.title}>
          {texts.unreadable.detail}
        </Alert>
      )}
      {drafted && <DraftDifference live={test} drafted={drafted} />}
      <SimpleGrid cols={{ base: 1, ...(drafted && { xl: 2 }) }} style={{ alignItems: 'start' }}>
        <AccessAnswer test={test} title={texts.inForce} actions={<CopyCurl test={test} />} />
        {drafted && <AccessAnswer test={drafted} title={texts.withDraft} actions={<CopyCurl test={drafted} />} />}
      </SimpleGrid>
      {(drafted || isUnreadable) && (
        <Button variant="default" style={{ alignSelf: 'flex-start' }} onClick={discard}>
          {texts.discardDraft}
        </Button>
      )}
      <Text size="xs" c="dimmed">
        {drafted === undefined ? texts.shareable : texts.shareableDraft(isInAddress)}
      </Text>
    </Stack>
  );
}

function CopyCurl({ test }: { readonly test: AccessTest }) {
  const { copy, copied } = useClipboard();
  return (
    <Button size="xs" variant="default" onClick={() => copy(toCurl(location.origin, test))}>
      {copied ? commonTexts.copied : texts.copyCurl}
    </Button>
  );
}
