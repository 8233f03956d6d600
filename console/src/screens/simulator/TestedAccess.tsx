import { Button, Stack, Text } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useState } from 'react';
import { discardDraft, readDraft } from '../../api/draft.ts';
import { AccessAnswer, type AccessTest } from '../../components/decision/AccessAnswer.tsx';
import { commonTexts } from '../../texts/common.ts';
import { simulatorTexts as texts } from '../../texts/simulator.ts';
import { toCurl } from './search.ts';

/** The answer to a question: the decision, and its explanation. If the tab has a draft, the answer under the draft stands below. */
export function TestedAccess({ test }: { readonly test: AccessTest }) {
  const [draft, setDraft] = useState(() => readDraft());
  return (
    <Stack>
      <AccessAnswer test={test} title={texts.inForce} actions={<CopyCurl test={test} />} />
      {draft && (
        <>
          <AccessAnswer test={{ ...test, draft }} title={texts.withDraft} actions={<CopyCurl test={{ ...test, draft }} />} />
          <Button
            variant="default"
            style={{ alignSelf: 'flex-start' }}
            onClick={() => {
              discardDraft();
              setDraft(undefined);
            }}
          >
            {texts.discardDraft}
          </Button>
        </>
      )}
      <Text size="xs" c="dimmed">
        {texts.shareable}
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
