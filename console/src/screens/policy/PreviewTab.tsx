import { Anchor, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { EmptyState } from '../../components/EmptyState.tsx';
import { PreviewRun } from '../../components/preview/PreviewRun.tsx';
import type { PreviewSearch } from '../../components/preview/preview-search.ts';
import { policyTexts } from '../../texts/policy.ts';
import { DraftChanges } from './DraftChanges.tsx';
import { toPolicyDraft } from './policy-draft.ts';
import type { PolicySearch } from './policy-search.ts';
import type { PolicyEditorState } from './usePolicyEditor.ts';
import type { ValidationState } from './useValidation.ts';

const texts = policyTexts.previewing;

/** Properties of the preview of a policy. */
export interface PreviewTabProps {
  readonly editor: PolicyEditorState;
  readonly validation: ValidationState;
  readonly search: PreviewSearch;
  onSearch(search: PolicySearch): void;
}

/** Replays recorded decisions under the unsaved changes of a policy, and shows what these change for roles and users. */
export function PreviewTab({ editor, validation, search, onSearch }: PreviewTabProps) {
  const { base, draft, isDirty } = editor;
  const rules = <Button onClick={() => onSearch({ tab: 'rules' })}>{texts.change}</Button>;
  if (!isDirty) return <EmptyState {...texts.empty} action={rules} />;
  const hasMistakes = (validation.result?.errors.length ?? 0) > 0;
  return (
    <Stack>
      <PreviewRun
        draft={toPolicyDraft(draft, base?.id)}
        refusal={hasMistakes ? policyTexts.saving.mistakes : undefined}
        search={search}
        onSearch={(next) => onSearch({ tab: 'preview', ...next })}
      >
        <Text size="sm">{texts.detail}</Text>
        <Text size="sm">{texts.onlyRecorded}</Text>
      </PreviewRun>
      {base !== undefined && validation.result?.valid === true && (
        <Paper withBorder p="md">
          <DraftChanges base={base} draft={draft} />
        </Paper>
      )}
      <Group gap="md">
        {/* A tab that is opened with its opener gets a copy of the session storage, which contains the draft. */}
        <Anchor href="/console/simulator" target="_blank" rel="opener" size="sm">
          {texts.simulator}
        </Anchor>
        <Anchor href="/console/preview" target="_blank" rel="opener" size="sm">
          {texts.several}
        </Anchor>
      </Group>
    </Stack>
  );
}
