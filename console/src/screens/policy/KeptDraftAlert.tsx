import { Alert, Button, Group, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { policyVersionQuery } from '../../api/policies.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { policyTexts } from '../../texts/policy.ts';
import type { KeptDraft } from './kept-draft.ts';
import type { PolicyEditorState } from './usePolicyEditor.ts';

const texts = policyTexts.kept;

/** Properties of the offer. */
export interface KeptDraftAlertProps {
  readonly kept: KeptDraft;
  readonly editor: PolicyEditorState;
  /** Called when the user has restored or discarded the changes. */
  onDecided(): void;
}

/** Offers the unsaved changes of an earlier page. If the policy has changed since, saving them opens the merge. */
export function KeptDraftAlert({ kept, editor, onDecided }: KeptDraftAlertProps) {
  const queryClient = useQueryClient();
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => {
      const { policyId, version, draft } = kept;
      // The kept changes replace a text that was typed meanwhile.
      editor.discardText();
      if (policyId === undefined || version === undefined || version === editor.base?.version) return editor.change(draft);
      editor.restart(await queryClient.ensureQueryData(policyVersionQuery(policyId, version)), draft);
    },
    onSuccess: onDecided,
  });
  return (
    <Alert color="yellow" title={texts.title} role="alert">
      <Text size="sm" mb="sm">
        {texts.detail}
      </Text>
      {error !== null && <ProblemAlert error={error} onRetry={() => mutate()} />}
      <Group>
        <Button size="xs" loading={isPending} onClick={() => mutate()}>
          {texts.restore}
        </Button>
        <Button size="xs" variant="default" onClick={onDecided}>
          {texts.discard}
        </Button>
      </Group>
    </Alert>
  );
}
