import { Problem } from '../errors.ts';
import type { Answer, Call } from '../request/index.ts';
import { readTexts } from './input.ts';
import type { AuthParts } from './parts.ts';
import { renewSession } from './sessions.ts';
import { answerWithTokens } from './token-answer.ts';

const REFRESH_BODY = { refreshToken: { min: 1, max: 200 } } as const;

/** `POST /auth/refresh`: a refresh token for a new pair. Each works once; whoever sends one again ends the session for all who hold it. */
export async function refresh(parts: AuthParts, call: Call): Promise<Answer> {
  const { refreshToken } = readTexts(call.body, REFRESH_BODY);
  const renewed = await parts.database.transaction(async (tx) => {
    const found = await renewSession(tx, refreshToken, parts.settings.refreshTokenSeconds);
    return found === undefined ? undefined : { ...found, now: tx.now };
  });
  // Outside the transaction: thrown inside, it would undo the end of a session whose token was used twice.
  if (renewed === undefined)
    throw new Problem('IDENTITY_TOKEN', 'the refresh token is not valid', { hint: 'log in again with POST /auth/login' });
  return answerWithTokens(parts, { ...renewed, message: 'refreshed' });
}
