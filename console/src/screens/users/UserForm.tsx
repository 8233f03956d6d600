import { Button, PasswordInput, Select, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { catalogueQuery } from '../../api/queries.ts';
import { type Row, sendRecordRequest } from '../../api/records.ts';
import { notifySuccess } from '../../components/notifySuccess.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { usersTexts } from '../../texts/service.ts';

const texts = usersTexts.form;
const EMPTY = { name: '', email: '', password: '' };

/** The form of a new user. */
export function UserForm({ onDone }: { onDone(id: string): void }) {
  const [values, setValues] = useState(EMPTY);
  const [role, setRole] = useState('user');
  const { data: catalogue } = useQuery(catalogueQuery);
  const queryClient = useQueryClient();
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => sendRecordRequest<{ readonly data: Row }>('User', { method: 'POST', body: { ...values, role } }),
    onSuccess: ({ data }) => {
      notifySuccess(texts.created);
      void queryClient.invalidateQueries({ queryKey: ['users'] });
      onDone(data.id);
    },
  });
  const field = (name: keyof typeof EMPTY) => ({
    label: texts[name],
    required: true,
    value: values[name],
    onChange: ({ currentTarget }: FormEvent<HTMLInputElement>) => {
      const { value } = currentTarget;
      setValues((present) => ({ ...present, [name]: value }));
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
        <TextInput {...field('name')} data-autofocus autoComplete="off" />
        <TextInput {...field('email')} type="email" autoComplete="off" />
        <PasswordInput {...field('password')} description={texts.passwordHelp} autoComplete="new-password" />
        <Select
          label={texts.role}
          allowDeselect={false}
          data={catalogue?.userRoles ?? []}
          value={role}
          onChange={(next) => next !== null && setRole(next)}
        />
        <Button type="submit" loading={isPending}>
          {texts.create}
        </Button>
      </Stack>
    </form>
  );
}
