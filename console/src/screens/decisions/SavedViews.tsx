import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import { ifMatch } from '../../api/policies.ts';
import { ActionMenu, type MenuAction } from '../../components/ActionMenu.tsx';
import { Dialog } from '../../components/Dialog.tsx';
import { notifySuccess } from '../../components/notify.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { commonTexts } from '../../texts/common.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { type DecisionsSearch, fromView, toView } from './search.ts';

const texts = decisionsTexts.views;
const SCREEN = 'decisions';
const KEY = ['own views'];

/** The views of this screen that the user has saved, and the form that saves the present one. */
export function SavedViews({ search, onOpen }: { readonly search: DecisionsSearch; onOpen(search: DecisionsSearch): void }) {
  const [isSaving, setSaving] = useState(false);
  const queryClient = useQueryClient();
  const [isProblemShown, setProblemShown] = useState(false);
  const loaded = useQuery({
    queryKey: KEY,
    queryFn: async ({ signal }) => (await bodyOf(client.GET('/auth/me/views', { signal }))).data,
  });
  const remove = useMutation({
    mutationFn: (name: string) => bodyOf(client.DELETE('/auth/me/views', { params: { query: { name } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: KEY }),
  });
  const { data = [] } = loaded;
  const loadProblem = isProblemShown ? loaded.error : null;
  const views = data.filter(({ screen }) => screen === SCREEN);
  return (
    <>
      <ActionMenu
        note={loaded.error === null && views.length === 0 ? texts.none : undefined}
        actions={[
          ...(loaded.error === null ? [] : [{ key: 'problem', label: texts.failed, perform: () => setProblemShown(true) }]),
          ...views.flatMap(({ name, query }): readonly MenuAction[] => [
            { key: `open ${name}`, label: name, perform: () => onOpen(fromView(query)) },
            { key: `delete ${name}`, label: '✕', name: texts.delete(name), isBeside: true, perform: () => remove.mutate(name) },
          ]),
          { key: 'save', label: texts.save, perform: () => setSaving(true) },
        ]}
        button={(props) => (
          <Button variant="default" {...props}>
            {texts.label}
          </Button>
        )}
      />
      <Dialog opened={loadProblem !== null} onClose={() => setProblemShown(false)} title={texts.label}>
        <ProblemAlert error={loadProblem} onRetry={loaded.refetch} />
      </Dialog>
      <Dialog opened={remove.error !== null} onClose={remove.reset} title={texts.delete(remove.variables ?? '')}>
        <ProblemAlert error={remove.error} onRetry={() => remove.mutate(remove.variables ?? '')} />
      </Dialog>
      {isSaving && <SaveDialog search={search} views={data} onClose={() => setSaving(false)} />}
    </>
  );
}

interface SaveDialogProps {
  readonly search: DecisionsSearch;
  /** All views of the user. */
  readonly views: readonly Schemas['api.SavedView'][];
  onClose(): void;
}

/** Saves the present view under a name. */
function SaveDialog({ search, views, onClose }: SaveDialogProps) {
  const [name, setName] = useState('');
  const replaced = views.find((view) => view.name === name);
  const queryClient = useQueryClient();
  const { mutate, error, isPending } = useMutation({
    mutationFn: () =>
      bodyOf(
        client.PUT('/auth/me/views', {
          params: { query: { name }, ...(replaced && { header: ifMatch(replaced.version) }) },
          body: { screen: SCREEN, query: toView(search) as Record<string, never> },
        }),
      ),
    onSuccess: () => {
      notifySuccess(texts.saved);
      onClose();
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: KEY }),
  });
  return (
    <Dialog opened isBusy={isPending} onClose={onClose} title={texts.save}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <Stack>
          {error !== null && <ProblemAlert error={error} onRepeat={() => mutate()} />}
          <TextInput
            label={texts.name}
            required
            maxLength={100}
            data-autofocus
            description={replaced && texts.replaces}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button variant="default" disabled={isPending} onClick={onClose}>
              {commonTexts.cancel}
            </Button>
            <Button type="submit" loading={isPending}>
              {replaced ? texts.replace : commonTexts.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
