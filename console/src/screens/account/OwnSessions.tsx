import { useQuery } from '@tanstack/react-query';
import { bodyOf, client } from '../../api/client.ts';
import { SessionPanel } from '../../components/SessionPanel.tsx';
import { accountTexts } from '../../texts/account.ts';
import { commonTexts } from '../../texts/common.ts';

const texts = accountTexts.sessions;

/** The caller's open sessions. */
export function OwnSessions() {
  const sessions = useQuery({ queryKey: ['own sessions'], queryFn: loadSessions });
  return (
    <SessionPanel
      title={texts.title}
      description={texts.description}
      sessions={sessions}
      endAll={texts.endOthers}
      kindOf={() => commonTexts.unknown}
      end={endSession}
    />
  );
}

async function loadSessions() {
  return (await bodyOf(client.GET('/auth/me/sessions', { params: { query: { limit: 100 } } }))).data;
}

async function endSession(id: string | undefined): Promise<string> {
  if (id === undefined) {
    await bodyOf(client.DELETE('/auth/me/sessions'));
    return texts.othersEnded;
  }
  await bodyOf(client.DELETE('/auth/me/sessions/{id}', { params: { path: { id } } }));
  return texts.ended;
}
