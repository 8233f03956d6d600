import { Alert, Button, Center, Paper, PasswordInput, Stack, TextInput, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Navigate, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { setupQuery } from '../../api/queries.ts';
import { signIn } from '../../api/session.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { useSession } from '../../shell/useSession.ts';
import { shellTexts } from '../../texts/shell.ts';
import { signInTexts as texts } from '../../texts/sign-in.ts';
import { returnAddress } from './return-path.ts';
import { signInRoute } from './route.ts';

/** Signs a user in, and returns to the address that required it. */
export function SignInScreen() {
  const search = signInRoute.useSearch();
  const session = useSession();
  const setup = useQuery(setupQuery);
  useDocumentTitle(`${texts.title} · ${shellTexts.product}`);
  if (setup.data?.needed === true) return <Navigate to="/setup" />;
  if (session.status === 'signedIn') return <Return address={returnAddress(search, session.user.id)} />;
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="xl" w={380} maw="100%">
        <Stack>
          <Title order={1} size="h3">
            {texts.title}
          </Title>
          {search.ended === true && <Alert color="yellow">{texts.ended}</Alert>}
          {!globalThis.isSecureContext && <Alert color="yellow">{texts.noCookie}</Alert>}
          <SignInForm />
        </Stack>
      </Paper>
    </Center>
  );
}

/** Opens an address of the console in place of this one. */
function Return({ address }: { readonly address: string }) {
  const { history } = useRouter();
  useEffect(() => history.replace(`/console${address}`), [history, address]);
  return null;
}

function SignInForm() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { mutate, error, isPending } = useMutation({ mutationFn: signIn });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        mutate({ email, password });
      }}
    >
      <Stack>
        {error !== null && <ProblemAlert error={error} />}
        <TextInput
          label={texts.email}
          type="email"
          autoComplete="username"
          required
          autoFocus
          value={email}
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        />
        <PasswordInput
          label={texts.password}
          autoComplete="current-password"
          required
          value={password}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        />
        <Button type="submit" loading={isPending}>
          {texts.submit}
        </Button>
      </Stack>
    </form>
  );
}
