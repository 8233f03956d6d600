import type { Answer } from '../request/index.ts';
import type { AuthParts, ShownUser } from './parts.ts';
import type { OpenSession } from './sessions.ts';

/** What a login or a refresh came to. */
interface Issue {
  readonly user: ShownUser;
  readonly session: OpenSession;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly message: string;
}

/** The answer that carries a session's tokens, the only time they are seen. */
export async function answerWithTokens({ tokens, settings }: AuthParts, { user, session, now, message }: Issue): Promise<Answer> {
  const token = await tokens.sign({ userId: user.id, sessionId: session.sessionId, role: user.role, now });
  const { id, email, name, role } = user;
  const body = {
    success: true,
    message,
    token,
    tokenType: 'Bearer',
    expiresIn: settings.accessTokenSeconds,
    refreshToken: session.refreshToken,
    user: { id, email, name, role },
  };
  return { status: 200, headers: { 'cache-control': 'no-store' }, body };
}
