import { Button, Modal, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { bodyOf, client } from '../../api/client.ts';
import { ifMatch, type Policy } from '../../api/policies.ts';
import { PolicyAccessChanges } from '../../components/access-change/PolicyAccessChanges.tsx';
import { resourcesOf } from '../../components/access-change/permission-changes.ts';
import { ConfirmModal } from '../../components/ConfirmModal.tsx';
import { notifySuccess } from '../../components/notifySuccess.ts';
import { commonTexts } from '../../texts/common.ts';
import { policyTexts as texts } from '../../texts/policy.ts';
import { MergeModal } from './MergeModal.tsx';
import type { DraftJson } from './policy-draft.ts';
import type { PolicySearch } from './policy-search.ts';
import { SaveModal } from './SaveModal.tsx';
import { UnreadableText } from './UnreadableText.tsx';
import type { PolicyEditorState } from './usePolicyEditor.ts';
import type { ValidationState } from './useValidation.ts';

/** Properties of the buttons. */
interface EditorActionsProps {
  readonly editor: PolicyEditorState;
  readonly validation: ValidationState;
  onSearch(search: PolicySearch): void;
}

/** The buttons of an editor: save, discard, delete. */
export function EditorActions({ editor, validation, onSearch }: EditorActionsProps) {
  const { base, text, isDirty, restart } = editor;
  const [opened, setOpened] = useState<'save' | 'delete'>();
  const [newer, setNewer] = useState<Policy>();
  const [reason, setReason] = useState('');
  const close = () => setOpened(undefined);
  const mistakes = validation.result?.errors.length ?? 0;
  return (
    <>
      {isDirty && <PreviewButton />}
      {isDirty && base !== undefined && (
        <Button variant="default" onClick={editor.discard}>
          {texts.discard}
        </Button>
      )}
      {base !== undefined && (
        <Button variant="default" onClick={() => setOpened('delete')}>
          {commonTexts.delete}
        </Button>
      )}
      <Button
        disabled={!isDirty && base !== undefined}
        color={isDirty && (mistakes > 0 || text?.mistake !== undefined) ? 'red' : 'blue'}
        onClick={() => setOpened('save')}
      >
        {base === undefined ? texts.create : texts.save}
      </Button>
      {opened === 'save' && text?.mistake !== undefined && (
        <Modal opened onClose={close} title={base === undefined ? texts.saving.createTitle : texts.saving.title}>
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
        </Modal>
      )}
      {opened === 'save' && text?.mistake === undefined && (
        <SaveModal editor={editor} reason={reason} onReason={setReason} onClose={close} onConflict={setNewer} onSearch={onSearch} />
      )}
      {newer !== undefined && base !== undefined && (
        <MergeModal
          base={base}
          mine={editor.draft}
          theirs={newer}
          format={text?.format ?? 'json'}
          onMerged={(draft: DraftJson) => {
            restart(newer, draft);
            setNewer(undefined);
            notifySuccess(texts.merging.merged);
          }}
          onClose={() => setNewer(undefined)}
        />
      )}
      {base !== undefined && <DeleteModal policy={base} isOpen={opened === 'delete'} editor={editor} onClose={close} />}
    </>
  );
}

/** Opens the preview of the draft. The tab that it opens gets a copy of the session storage, and this one keeps the draft. */
function PreviewButton() {
  return (
    <Button variant="default" renderRoot={(props) => <Link to="/preview" target="_blank" rel="opener" {...props} />}>
      {texts.preview}
    </Button>
  );
}

interface DeleteModalProps {
  readonly policy: Policy;
  readonly isOpen: boolean;
  readonly editor: PolicyEditorState;
  onClose(): void;
}

function DeleteModal({ policy, isOpen, editor, onClose }: DeleteModalProps) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const perform = async (reason: string | undefined) => {
    const params = { path: { id: policy.id }, header: ifMatch(policy.version), query: reason === undefined ? {} : { reason } };
    await bodyOf(client.DELETE('/admin/api/policies/{id}', { params }));
    // Without changes, so that the screen can be left.
    editor.discard();
    queryClient.removeQueries({ queryKey: ['policies', 'one', policy.id] });
    await queryClient.invalidateQueries({ queryKey: ['policies', 'list'] });
    notifySuccess(texts.deleting.done);
    await navigate({ to: '/policies', ignoreBlocker: true });
  };
  return (
    <ConfirmModal
      isOpen={isOpen}
      title={texts.deleting.title(policy.name)}
      action={commonTexts.delete}
      word={policy.name}
      takesReason
      isWide
      perform={perform}
      onClose={onClose}
    >
      <Text size="sm">{texts.deleting.detail}</Text>
      <PolicyAccessChanges policyIds={[policy.id]} draft={{ removePolicies: [policy.id] }} resources={resourcesOf(policy.rules)} />
    </ConfirmModal>
  );
}
