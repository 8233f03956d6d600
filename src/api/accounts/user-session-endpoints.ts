import { loadOpenSessions, revokeOpenSession, revokeSessions, unknownSession } from '../../authn/index.ts';
import { Problem } from '../../errors.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { Input, Type } from '../../schemas/index.ts';
import { loadRecord } from '../../storage/index.ts';
import { type AdminEndpoint, type AdminRequest, adminEndpoint } from '../admin/index.ts';
import { DONE, MESSAGE, name, PAGED } from '../schema-members.ts';
import { ENDED, SESSION_EXAMPLE, SESSION_MEMBERS, SESSION_QUERY } from './session-schemas.ts';

const USER = Input({ userId: name('Id of the user.') });

/** The endpoints with which admins see and end the sessions of a user. */
export const userSessionEndpoints: readonly AdminEndpoint[] = [
  adminEndpoint({
    method: 'GET',
    path: '/users/:userId/sessions',
    id: 'sessions.list',
    tag: 'Admin sessions',
    summary: 'Lists the open sessions of a user, the newest first.',
    params: USER,
    query: SESSION_QUERY,
    answers: {
      200: {
        description: 'The sessions.',
        schema: envelope(Type.Array(Type.Object(SESSION_MEMBERS)), PAGED),
        example: toSuccess([SESSION_EXAMPLE], { count: 1 }),
      },
    },
    problems: [404],
    async handle(admin) {
      await requireUser(admin, admin.params.userId);
      const { sessions, ...next } = await loadOpenSessions(admin.tx, admin.params.userId, admin.query);
      return respond(200, toSuccess(sessions, { count: sessions.length, ...next }));
    },
  }),
  adminEndpoint({
    method: 'DELETE',
    path: '/users/:userId/sessions',
    id: 'sessions.deleteAll',
    tag: 'Admin sessions',
    summary: 'Ends every session of a user.',
    params: USER,
    answers: {
      200: { description: 'Ended.', schema: envelope(ENDED, MESSAGE), example: toSuccess({ ended: 2 }, { message: 'ended 2 sessions' }) },
    },
    problems: [404],
    async handle(admin) {
      const { userId } = admin.params;
      await requireUser(admin, userId);
      const ended = await revokeSessions(admin.tx, userId);
      await admin.audit({ resource: 'Session', action: 'delete', reason: `ended ${ended} sessions of the user ${userId}` });
      return respond(200, toSuccess({ ended }, { message: `ended ${ended} sessions` }));
    },
  }),
  adminEndpoint({
    method: 'DELETE',
    path: '/users/:userId/sessions/:sessionId',
    id: 'sessions.delete',
    tag: 'Admin sessions',
    summary: 'Ends a session of a user. Its tokens and its cookie are no longer valid.',
    params: Input({ userId: name('Id of the user.'), sessionId: name('Id of the session.') }),
    answers: { 200: { description: 'Ended.', schema: DONE, example: { success: true, message: 'ended the session' } } },
    problems: [404],
    async handle(admin) {
      const { userId, sessionId } = admin.params;
      await requireUser(admin, userId);
      if (!(await revokeOpenSession(admin.tx, { id: sessionId, userId }))) throw unknownSession();
      await admin.audit({ resource: 'Session', action: 'delete', recordId: sessionId, reason: `ended a session of the user ${userId}` });
      return respond(200, { success: true, message: 'ended the session' });
    },
  }),
];

/** Refuses the id of a user who does not exist. @throws Problem USER_UNKNOWN */
async function requireUser({ tx, snapshot }: AdminRequest, userId: string): Promise<void> {
  if ((await loadRecord(tx, snapshot.user, userId)) === undefined) throw new Problem('USER_UNKNOWN', 'no user has this id');
}
