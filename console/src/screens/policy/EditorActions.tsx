import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Policy } from '../../api/policies.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { GuardedButton } from '../../components/GuardedButton.tsx';
import { LazyPart } from '../../components/LazyPart.tsx';
import { notifySuccess } from '../../components/notify.ts';
import { commonTexts } from '../../texts/common.ts';
import { policyTexts as texts } from '../../texts/policy.ts';
import type { DraftJson } from './policy-draft.ts';
import { deleteDialog, mergeDialog, saveDialog } from './policy-parts.ts';
import type { PolicySearch } from './policy-search.ts';
import { UnreadableText } from './UnreadableText.tsx';
import type { PolicyEditorState } from './usePolicyEditor.ts';
import type { ValidationState } from './useValidation.ts';

/** Properties of the buttons. */
interface EditorActionsProps {
  readonly editor: PolicyEditorState;
  /** The stored version; undefined for a new policy. */
  readonly stored: Policy | undefined;
  readonly validation: ValidationState;
  onSearch(search: PolicySearch): void;
  /** Called when the changes of a stored policy are saved. */
  onSaved(): void;
}

/** The buttons of an editor: save, discard, delete. */
export function EditorActions({ editor, stored, validation, onSearch, onSaved }: EditorActionsProps) {
  const { base, text, isDirty, restart } = editor;
  const [opened, setOpened] = useState<'save' | 'delete'>();
  const [newer, setNewer] = useState<Policy>();
  const [reason, setReason] = useState('');
  const close = () => setOpened(undefined);
  const openSave = () => {
    validation.onTry();
    setOpened('save');
  };
  const refusal = base?.managedBy === undefined ? undefined : texts.managed.refusal(base.file ?? '');
  const mistakes = validation.result?.errors.length ?? 0;
  return (
    <>
      {isDirty && base !== undefined && (
        <Button variant="default" onClick={editor.discard}>
          {texts.discard}
        </Button>
      )}
      {base !== undefined && (
        <GuardedButton variant="default" refusal={refusal} onClick={() => setOpened('delete')}>
          {commonTexts.delete}
        </GuardedButton>
      )}
      <GuardedButton refusal={refusal} disabled={!isDirty && base !== undefined} onClick={openSave}>
        {base === undefined ? texts.create : texts.save}
        {isDirty && mistakes > 0 && ` (${texts.mistakes(mistakes)})`}
      </GuardedButton>
      {opened === 'save' && text?.mistake !== undefined && (
        <Dialog opened onClose={close} title={base === undefined ? texts.saving.createTitle : texts.saving.title}>
          <UnreadableText
            mistake={text.mistake}
            onOpen={() => {
              onSearch({ tab: 'text' });
              close();
            }}
            onDiscard={() => {
              editor.discardText();
              close();
            }}
          />
        </Dialog>
      )}
      {opened === 'save' && text?.mistake === undefined && (
        <LazyPart
          part={saveDialog}
          props={{ editor, reason, onReason: setReason, onClose: close, onConflict: setNewer, onSaved, onSearch }}
          lines={0}
        />
      )}
      {newer !== undefined && base !== undefined && (
        <LazyPart
          part={mergeDialog}
          props={{
            base,
            mine: editor.draft,
            theirs: newer,
            format: text?.format ?? 'json',
            onMerged: (draft: DraftJson) => {
              restart(newer, draft);
              setNewer(undefined);
              notifySuccess(texts.merging.merged);
            },
            onClose: () => setNewer(undefined),
          }}
          lines={0}
        />
      )}
      {/* With unsaved changes, the base may be older than what is deleted. */}
      {stored !== undefined && opened === 'delete' && (
        <LazyPart part={deleteDialog} props={{ policy: stored, editor, onClose: close }} lines={0} />
      )}
    </>
  );
}
