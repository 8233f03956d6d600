/** The schemas of open sessions. */
import { SESSIONS_PER_PAGE } from '../../authn/index.ts';
import { Input, OneOf, Type } from '../../schemas/index.ts';
import { cursor, limit, TEXT, TIMESTAMP } from '../schema-members.ts';

/** The members of an open session. */
export const SESSION_MEMBERS = {
  id: TEXT,
  kind: OneOf(['browser', 'bearer'] as const, { description: '`browser`: of `POST /auth/session`; `bearer`: of `POST /auth/login`.' }),
  createdAt: TIMESTAMP,
  lastUsedAt: Type.Optional(Type.String({ format: 'date-time', description: 'Time of the login or the last refresh.' })),
  expiresAt: Type.String({ format: 'date-time', description: 'The session ends at this time unless it is refreshed.' }),
  ip: Type.Optional(Type.String({ description: 'Address of the client at `lastUsedAt`.' })),
  userAgent: Type.Optional(Type.String({ description: 'Header `User-Agent` at `lastUsedAt`, at most 200 characters.' })),
} as const;

/** An example of an open session. */
export const SESSION_EXAMPLE = {
  id: '01890a5d-ac96-774b-bcce-b302099a8060',
  kind: 'browser',
  createdAt: '2026-03-02T08:00:00.000Z',
  lastUsedAt: '2026-03-02T10:00:00.000Z',
  expiresAt: '2026-03-02T18:00:00.000Z',
  ip: '192.0.2.1',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:148.0) Gecko/20100101 Firefox/148.0',
} as const;

/** The query of a list of sessions. */
export const SESSION_QUERY = Input({ limit: limit({ max: 1000, fallback: SESSIONS_PER_PAGE, of: 'sessions' }), cursor: cursor() });

/** The data of a response that has ended several sessions. */
export const ENDED = Type.Object({ ended: Type.Integer({ minimum: 0, description: 'Number of ended sessions.' }) });
