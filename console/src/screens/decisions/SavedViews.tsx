import { Button, Group, Menu, Modal, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { bodyOf, client } from '../../api/client.ts';
import { notifySuccess } from '../../components/notifySuccess.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { commonTexts } from '../../texts/common.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { type DecisionsSearch, validateDecisionsSearch } from './search.ts';

const texts = decisionsTexts.views;
const SCREEN = 'decisions';
const KEY = ['own views'];

/** The views of this screen that the user has saved, and the form that saves the present one. */
export function SavedViews({ search, onOpen }: { readonly search: DecisionsSearch; onOpen(search: DecisionsSearch): void }) {
  const [isSaving, setSaving] = useState(false);
  const queryClient = useQueryClient();
  const { data = [] } = useQuery({
    queryKey: KEY,
    queryFn: async ({ signal }) => (await bodyOf(client.GET('/auth/me/views', { signal }))).data,
  });
  const remove = useMutation({
    mutationFn: (name: string) => bodyOf(client.DELETE('/auth/me/views', { params: { query: { name } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: KEY }),
  });
  const views = data.filter(({ screen }) => screen === SCREEN);
  return (
    <>
      <Menu closeOnItemClick withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <Button variant="default">{texts.label}</Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views.length === 0 && <Menu.Label>{texts.none}</Menu.Label>}
          {views.map(({ name, query }) => (
            <Group key={name} gap={0} wrap="nowrap">
              <Menu.Item onClick={() => onOpen(validateDecisionsSearch(query))}>{name}</Menu.Item>
              <Menu.Item w="auto" aria-label={texts.delete(name)} onClick={() => remove.mutate(name)}>
                ✕
              </Menu.Item>
            </Group>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={() => setSaving(true)}>{texts.save}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={isSaving} onClose={() => setSaving(false)} title={texts.save}>
        <SaveForm search={search} onDone={() => setSaving(false)} />
      </Modal>
    </>
  );
}

function SaveForm({ search, onDone }: { readonly search: DecisionsSearch; onDone(): void }) {
  const [name, setName] = useState('');
  const queryClient = useQueryClient();
  const { mutate, error, isPending } = useMutation({
    mutationFn: () =>
      bodyOf(
        client.PUT('/auth/me/views', {
          params: { query: { name } },
          body: { screen: SCREEN, query: search as Record<string, never> },
        }),
      ),
    onSuccess: () => {
      notifySuccess(texts.saved);
      void queryClient.invalidateQueries({ queryKey: KEY });
      onDone();
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        mutate();
      }}
    >
      <Stack>
        {error !== null && <ProblemAlert error={error} />}
        <TextInput
          label={texts.name}
          required
          maxLength={100}
          data-autofocus
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Button type="submit" loading={isPending}>
          {commonTexts.save}
        </Button>
      </Stack>
    </form>
  );
}
