import { Alert, Button, Group, List, ScrollArea, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import { ifMatch, type Policy, policyQuery } from '../../api/policies.ts';
import { RequestError } from '../../api/problem.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { notifySuccess } from '../../components/notify.ts';
import { PolicyDiff } from '../../components/PolicyDiff.tsx';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { useScreenWatch } from '../../components/useScreenWatch.ts';
import { useCaller } from '../../shell/useSession.ts';
import { commonTexts } from '../../texts/common.ts';
import { policyTexts } from '../../texts/policy.ts';
import { isolateNames } from '../../texts/sentence.ts';
import { DraftChanges } from './DraftChanges.tsx';
import { discardKept } from './kept-draft.ts';
import { type DraftJson, toChange } from './policy-draft.ts';
import type { PolicySearch } from './policy-search.ts';
import type { PolicyEditorState } from './usePolicyEditor.ts';
import { type Validation, validatePolicy } from './useValidation.ts';

const texts = policyTexts.saving;

/** Properties of the dialog. */
export interface SaveModalProps {
  readonly editor: PolicyEditorState;
  /** Kept by the parent, so that a conflict does not lose it. */
  readonly reason: string;
  onReason(reason: string): void;
  onClose(): void;
  /** Called with the stored policy if it has changed since the editor began. */
  onConflict(newer: Policy): void;
  /** Called when the changes of a stored policy are saved. */
  onSaved(): void;
  onSearch(search: PolicySearch): void;
}

/** Shows what a draft changes, takes a reason, and stores it. */
export function SaveModal({ editor, reason, onReason, onClose, onConflict, onSaved, onSearch }: SaveModalProps) {
  const { base, draft } = editor;
  const checked = useQuery({
    queryKey: ['policies', 'saving', base?.id, draft],
    queryFn: ({ signal }) => validatePolicy(draft, base?.id, signal),
    staleTime: 0,
    gcTime: 0,
  });
  const save = useSave(editor, { onReason, onClose, onConflict, onSaved });
  return (
    <Dialog opened isBusy={save.isPending} onClose={onClose} size="lg" title={base === undefined ? texts.createTitle : texts.title}>
      <Stack>
        <QueryState query={checked} lines={3}>
          {(validation) =>
            isGone(validation) ? (
              <GonePolicy />
            ) : validation.valid ? (
              <SaveForm
                {...{ validation, reason, onReason, save, onClose }}
                isNew={base === undefined}
                changes={base && <DraftChanges base={base} draft={draft} />}
              />
            ) : (
              <Mistakes
                validation={validation}
                onOpen={(at) => {
                  onSearch({ tab: 'rules', at });
                  onClose();
                }}
              />
            )
          }
        </QueryState>
      </Stack>
    </Dialog>
  );
}

type Save = ReturnType<typeof useSave>;

function useSave(
  editor: PolicyEditorState,
  { onReason, onClose, onConflict, onSaved }: Pick<SaveModalProps, 'onReason' | 'onClose' | 'onConflict' | 'onSaved'>,
) {
  const { base, draft, restart } = editor;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const watch = useScreenWatch();
  const { id: userId } = useCaller();
  return useMutation({
    mutationFn: (reason: string) => storePolicy(base, draft, reason),
    onMutate: watch,
    onSuccess: async (stored, _reason, isOpen) => {
      queryClient.setQueryData(policyQuery(stored.id).queryKey, stored);
      await queryClient.invalidateQueries({ queryKey: ['policies'], predicate: ({ queryKey }) => queryKey[1] !== 'one' });
      onReason('');
      onClose();
      notifySuccess(base === undefined ? texts.created : texts.saved);
      if (base === undefined) {
        discardKept({ userId, policyId: undefined });
        if (isOpen()) await navigate({ to: '/policies/$id', params: { id: stored.id }, ignoreBlocker: true });
      } else {
        restart(stored);
        onSaved();
      }
    },
    onError: async (error) => {
      if (base === undefined || !(error instanceof RequestError) || error.problem.status !== 412) return;
      onConflict(await queryClient.fetchQuery({ ...policyQuery(base.id), staleTime: 0 }));
      onClose();
    },
  });
}

async function storePolicy(base: Policy | undefined, draft: DraftJson, reason: string): Promise<Policy> {
  const body = { ...(base === undefined ? draft : toChange(draft)), ...(reason !== '' && { reason }) };
  const sent =
    base === undefined
      ? client.POST('/admin/api/policies', { body: body as Schemas['admin.PolicyInput'] })
      : client.PUT('/admin/api/policies/{id}', { params: { path: { id: base.id }, header: ifMatch(base.version) }, body });
  return (await bodyOf(sent)).data;
}

interface SaveFormProps {
  readonly validation: Validation;
  readonly isNew: boolean;
  readonly save: Save;
  readonly reason: string;
  /** The permissions that the draft changes. */
  readonly changes: ReactNode;
  onReason(reason: string): void;
  onClose(): void;
}

function SaveForm({ validation: { differences, warnings = [] }, isNew, changes, save, reason, onReason, onClose }: SaveFormProps) {
  if (differences?.length === 0) return <Alert color="gray">{texts.nothing}</Alert>;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(reason);
      }}
    >
      <Stack>
        {differences !== undefined && (
          <ScrollArea.Autosize mah="45vh" type="auto">
            <Text fw={600} mb="xs">
              {texts.differences}
            </Text>
            <PolicyDiff differences={differences} />
            {changes}
          </ScrollArea.Autosize>
        )}
        {warnings.length > 0 && (
          <Alert color="yellow" title={texts.warnings}>
            <List size="sm">
              {warnings.map(({ code, detail, path }) => (
                <List.Item key={`${code} ${path} ${detail}`}>{isolateNames(detail)}</List.Item>
              ))}
            </List>
          </Alert>
        )}
        {save.error !== null && <ProblemAlert error={save.error} onRepeat={() => save.mutate(reason)} />}
        <TextInput
          label={commonTexts.reason}
          description={commonTexts.reasonHelp}
          maxLength={500}
          data-autofocus
          value={reason}
          onChange={({ currentTarget }) => onReason(currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button variant="default" disabled={save.isPending} onClick={onClose}>
            {commonTexts.cancel}
          </Button>
          <Button type="submit" loading={save.isPending}>
            {isNew ? texts.create : texts.save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Returns true if the policy that the draft changes does not exist. */
function isGone({ errors }: Validation): boolean {
  return errors.some(({ path, code }) => path === 'id' && code === 'reference');
}

function GonePolicy() {
  return (
    <Alert color="red" title={texts.gone}>
      <Text size="sm" mb="xs">
        {texts.goneDetail}
      </Text>
      <TextLink to="/policies/changes" target="_blank" rel="noreferrer" size="sm">
        {texts.allChanges}
      </TextLink>
    </Alert>
  );
}

function Mistakes({ validation, onOpen }: { readonly validation: Validation; onOpen(path: string): void }) {
  return (
    <Alert color="red" title={texts.mistakes}>
      <List size="sm">
        {validation.errors.map(({ path, detail }) => (
          <List.Item key={`${path} ${detail}`}>
            <Button variant="subtle" size="compact-xs" onClick={() => onOpen(path)}>
              {path === '' ? '/' : path}
            </Button>{' '}
            {isolateNames(detail)}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
