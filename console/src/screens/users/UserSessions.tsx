import { useQuery } from '@tanstack/react-query';
import { bodyOf, client } from '../../api/client.ts';
import { SessionPanel } from '../../components/SessionPanel.tsx';
import { usersTexts } from '../../texts/service.ts';

const texts = usersTexts.detail;

/** The open sessions of a user. */
export function UserSessions({ userId }: { readonly userId: string }) {
  const sessions = useQuery({ queryKey: ['users', 'sessions', userId], queryFn: () => loadSessions(userId) });
  return (
    <SessionPanel
      title={texts.sessions}
      sessions={sessions}
      endAll={texts.endAll}
      kindOf={({ kind }) => texts.kinds[kind]}
      end={(sessionId) => endSession(userId, sessionId)}
    />
  );
}

async function loadSessions(userId: string) {
  return (await bodyOf(client.GET('/admin/api/users/{userId}/sessions', { params: { path: { userId }, query: { limit: 100 } } }))).data;
}

async function endSession(userId: string, sessionId: string | undefined): Promise<string> {
  if (sessionId === undefined) await bodyOf(client.DELETE('/admin/api/users/{userId}/sessions', { params: { path: { userId } } }));
  else await bodyOf(client.DELETE('/admin/api/users/{userId}/sessions/{sessionId}', { params: { path: { userId, sessionId } } }));
  return texts.ended;
}
