import { Button, Center, Paper, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { setupQuery } from '../../api/queries.ts';
import { QueryState } from '../../components/QueryState.tsx';
import { setupTexts as texts } from '../../texts/setup.ts';
import { FirstAdminForm } from './FirstAdminForm.tsx';

/** Creates the first admin, signs the admin in, and opens the first steps. */
export function SetupScreen() {
  const router = useRouter();
  const setup = useQuery(setupQuery);
  useDocumentTitle(texts.title);
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="xl" w={440} maw="100%">
        <Stack>
          <Title order={1} size="h3">
            {texts.title}
          </Title>
          <QueryState query={setup}>
            {({ needed, tokenRequired }) =>
              needed ? (
                <FirstAdminForm isTokenRequired={tokenRequired} onDone={() => void router.navigate({ to: '/first-steps' })} />
              ) : (
                <AlreadyDone />
              )
            }
          </QueryState>
        </Stack>
      </Paper>
    </Center>
  );
}

function AlreadyDone() {
  return (
    <>
      <Text>{texts.done}</Text>
      <Button component={Link} to="/sign-in">
        {texts.signIn}
      </Button>
    </>
  );
}
