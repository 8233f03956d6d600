import { SimpleGrid } from '@mantine/core';
import { Page } from '../../components/Page.tsx';
import { useCaller } from '../../shell/useSession.ts';
import { accountTexts as texts } from '../../texts/account.ts';
import { sentence } from '../../texts/sentence.ts';
import { OwnSessions } from './OwnSessions.tsx';
import { PasswordForm } from './PasswordForm.tsx';

/** The caller's own password and sessions. */
export function AccountScreen() {
  const { email, role } = useCaller();
  return (
    <Page title={texts.title} description={sentence`${email} · ${role}`}>
      <OwnSessions />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <PasswordForm />
      </SimpleGrid>
    </Page>
  );
}
