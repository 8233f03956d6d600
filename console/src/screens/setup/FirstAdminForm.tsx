import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { bodyOf, client } from '../../api/client.ts';
import { type Issue, RequestError } from '../../api/problem.ts';
import { signIn } from '../../api/session.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { isolateNames } from '../../texts/sentence.ts';
import { setupTexts as texts } from '../../texts/setup.ts';

/** The token in the fragment of the printed link. */
const GIVEN_TOKEN = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';

const EMPTY = { name: '', email: '', password: '', token: GIVEN_TOKEN };

/** The form of the first admin. */
export function FirstAdminForm({ isTokenRequired, onDone }: { readonly isTokenRequired: boolean; onDone(): void }) {
  const [values, setValues] = useState(EMPTY);
  const { mutate, error, isPending } = useMutation({ mutationFn: createFirstAdmin, onSuccess: onDone });
  const mistakes = toMistakes(error);
  const field = (name: keyof typeof EMPTY) => ({
    name,
    label: texts[name],
    value: values[name],
    error: mistakes?.[name],
    errorProps: { role: 'alert' },
    'aria-invalid': mistakes?.[name] !== undefined,
    onChange: ({ currentTarget }: FormEvent<HTMLInputElement>) => {
      const { value } = currentTarget;
      setValues((present) => ({ ...present, [name]: value }));
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        mutate(values);
      }}
    >
      <Stack>
        <Text c="dimmed" size="sm">
          {texts.description}
        </Text>
        {error !== null && mistakes === undefined && <ProblemAlert error={error} />}
        <TextInput {...field('name')} autoComplete="name" required autoFocus />
        <TextInput {...field('email')} type="email" autoComplete="username" required />
        <PasswordInput {...field('password')} description={texts.passwordHelp} autoComplete="new-password" required />
        {isTokenRequired && <TextInput {...field('token')} description={texts.tokenHelp} autoComplete="off" required />}
        <Button type="submit" loading={isPending}>
          {texts.submit}
        </Button>
      </Stack>
    </form>
  );
}

/** The fields that show their own mistakes. */
const FIELDS: readonly string[] = ['name', 'email', 'password'];
const PASSWORD_MISTAKES: Readonly<Partial<Record<string, string>>> = texts.passwordMistakes;

/** Returns the mistakes by field; undefined if the request failed for another reason. */
function toMistakes(error: Error | null): Readonly<Record<string, string>> | undefined {
  const issues = error instanceof RequestError ? (error.problem.errors ?? []) : [];
  if (issues.length === 0 || !issues.every(({ path }) => FIELDS.includes(path))) return undefined;
  const describe = ({ path, code, detail }: Issue): string =>
    (path === 'password' ? PASSWORD_MISTAKES[code] : undefined) ?? isolateNames(detail);
  return Object.fromEntries(issues.map((issue) => [issue.path, describe(issue)]));
}

async function createFirstAdmin({ token, ...admin }: typeof EMPTY): Promise<void> {
  await bodyOf(client.POST('/auth/setup', { body: { ...admin, ...(token !== '' && { token }) } }));
  await signIn({ email: admin.email, password: admin.password });
}
