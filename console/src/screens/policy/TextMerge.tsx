import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { CodeMerge } from '../../components/code/CodeMerge.tsx';
import { commonTexts } from '../../texts/common.ts';
import { policyTexts } from '../../texts/policy.ts';
import { alignMembers, type DraftJson, type PolicyText } from './policy-draft.ts';
import { parsePolicy, printPolicy } from './policy-text.ts';

const texts = policyTexts.merging;
const CONTROLS = { take: texts.takeTheirs, keep: texts.keepMine };

/** Properties of the merge of texts. */
interface TextMergeProps {
  /** The draft that the text begins with. */
  readonly merged: DraftJson;
  readonly theirs: DraftJson;
  readonly format: PolicyText['format'];
  onMerged(draft: DraftJson): void;
  onClose(): void;
}

/** Merges two versions of a policy as texts. */
export function TextMerge({ merged, theirs, format, onMerged, onClose }: TextMergeProps) {
  const initial = useMemo(() => printPolicy(alignMembers(merged, theirs), format), [merged, theirs, format]);
  const [text, setText] = useState(initial);
  const parsed = useMemo(() => parsePolicy(text, format), [text, format]);
  return (
    <Stack>
      <Text size="sm">{texts.textDetail}</Text>
      <CodeMerge
        label={texts.textLabel}
        language={format}
        initial={initial}
        other={printPolicy(theirs, format)}
        controls={CONTROLS}
        onChange={setText}
      />
      {'mistake' in parsed && (
        <Alert color="red" title={policyTexts.text.unreadable}>
          {parsed.mistake.message}
        </Alert>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {commonTexts.cancel}
        </Button>
        <Button disabled={'mistake' in parsed} onClick={() => 'draft' in parsed && onMerged(parsed.draft)}>
          {texts.apply}
        </Button>
      </Group>
    </Stack>
  );
}
