import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import { EmptyState } from '../../components/EmptyState.tsx';
import { LazyPart } from '../../components/LazyPart.tsx';
import { PreviewRun } from '../../components/preview/PreviewRun.tsx';
import { validatePreviewSearch } from '../../components/preview/preview-search.ts';
import { TextLink } from '../../components/TextLink.tsx';
import { policyTexts } from '../../texts/policy.ts';
import { DraftChanges } from './DraftChanges.tsx';
import { toPolicyDraft } from './policy-draft.ts';
import { assumedAssignment, assumedChanges } from './policy-parts.ts';
import { type PolicySearch, parseAssignee } from './policy-search.ts';
import { hasEarlierRevision } from './previous-revision.ts';
import type { PolicyEditorState } from './usePolicyEditor.ts';
import type { ValidationState } from './useValidation.ts';

const texts = policyTexts.previewing;

/** Properties of the preview of a policy. */
export interface PreviewTabProps {
  readonly editor: PolicyEditorState;
  readonly validation: ValidationState;
  readonly search: PolicySearch;
  onSearch(search: PolicySearch): void;
}

/** Replays recorded decisions under the unsaved changes of a policy, and shows what these change for roles and users. */
export function PreviewTab({ editor, validation, search, onSearch }: PreviewTabProps) {
  const { base, draft, hasDraft } = editor;
  if (!hasDraft) return <NothingToPreview base={base} onSearch={onSearch} />;
  const hasMistakes = (validation.result?.errors.length ?? 0) > 0;
  const isValid = validation.result?.valid === true;
  const assignee = base === undefined ? parseAssignee(search.assumed) : undefined;
  const isUnassigned = base === undefined && assignee === undefined;
  const tried = toPolicyDraft(draft, base?.id, assignee);
  return (
    <Stack>
      <PreviewRun
        draft={tried}
        refusal={hasMistakes ? policyTexts.saving.mistakes : isUnassigned ? texts.unassigned : undefined}
        search={validatePreviewSearch({ ...search })}
        onSearch={(next) => onSearch({ tab: 'preview', ...next })}
      >
        <Text size="sm">{texts.detail}</Text>
        <Text size="sm">{texts.onlyRecorded}</Text>
        {base === undefined && (
          <LazyPart
            part={assumedAssignment}
            props={{ assignee, onChange: (assumed) => onSearch({ ...search, tab: 'preview', assumed }) }}
            lines={3}
          />
        )}
      </PreviewRun>
      {isValid && (base !== undefined || assignee !== undefined) && (
        <Paper withBorder p="md">
          {base !== undefined && <DraftChanges base={base} draft={draft} />}
          {assignee !== undefined && <LazyPart part={assumedChanges} props={{ assignee, tried, draft }} lines={3} />}
        </Paper>
      )}
      <Group gap="md">
        {/* A tab that is opened with its opener gets a copy of the session storage, which contains the draft. */}
        <TextLink to="/simulator" search={toQuestion(assignee)} target="_blank" rel="opener" size="sm">
          {texts.simulator}
        </TextLink>
        <TextLink to="/preview" target="_blank" rel="opener" size="sm">
          {texts.several}
        </TextLink>
      </Group>
    </Stack>
  );
}

/** The ways to changes that can be compared. */
function NothingToPreview({ base, onSearch }: Pick<PolicyEditorState, 'base'> & Pick<PreviewTabProps, 'onSearch'>) {
  const action = (
    <Group justify="center">
      <Button onClick={() => onSearch({ tab: 'rules' })}>{texts.change}</Button>
      {base !== undefined && hasEarlierRevision(base) && (
        <Button variant="default" onClick={() => onSearch({ tab: 'history', compare: true })}>
          {texts.compare}
        </Button>
      )}
    </Group>
  );
  return <EmptyState {...texts.empty} action={action} />;
}

/** Returns the question of the simulator about the assumed role or user. */
function toQuestion({ role, userId }: ReturnType<typeof parseAssignee> = {}) {
  return { ...(role !== undefined && { role }), ...(userId !== undefined && { user: userId }) };
}
