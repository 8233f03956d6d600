import { Button, PasswordInput, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { bodyOf, client } from '../../api/client.ts';
import { notifySuccess } from '../../components/notify.ts';
import { Panel } from '../../components/Panel.tsx';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { accountTexts } from '../../texts/account.ts';

const texts = accountTexts.password;

/** Changes the caller's own password. */
export function PasswordForm() {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNext] = useState('');
  const queryClient = useQueryClient();
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => bodyOf(client.PUT('/auth/me/password', { body: { currentPassword, newPassword } })),
    onSuccess: () => {
      setCurrent('');
      setNext('');
      notifySuccess(texts.done);
      void queryClient.invalidateQueries({ queryKey: ['own sessions'] });
    },
  });
  return (
    <Panel title={texts.title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <Stack>
          {error !== null && <ProblemAlert error={error} onRepeat={() => mutate()} />}
          <PasswordInput
            label={texts.current}
            autoComplete="current-password"
            required
            value={currentPassword}
            onChange={({ currentTarget }) => setCurrent(currentTarget.value)}
          />
          <PasswordInput
            label={texts.next}
            autoComplete="new-password"
            required
            value={newPassword}
            onChange={({ currentTarget }) => setNext(currentTarget.value)}
          />
          <Button type="submit" loading={isPending} style={{ alignSelf: 'flex-start' }}>
            {texts.submit}
          </Button>
        </Stack>
      </form>
    </Panel>
  );
}
