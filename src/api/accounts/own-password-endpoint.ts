import { Problem } from '../../errors.ts';
import { changeOwnPassword } from '../../pipeline/index.ts';
import { respond } from '../../request/index.ts';
import { Input, Type } from '../../schemas/index.ts';
import { DONE } from '../schema-members.ts';
import { authEndpoint, NO_STORE } from './auth-endpoint.ts';

const CHANGED = 'the password was changed, and every other session was ended';

/** The endpoint with which users change their own password. */
export const ownPasswordEndpoint = authEndpoint({
  method: 'PUT',
  path: '/auth/me/password',
  id: 'auth.me.password',
  summary: 'Changes the password of the current user, and ends every other session of the user.',
  description:
    'Policies decide it as an update of the own `User` record. Wrong current passwords are limited like logins. The session of the token stays open.',
  caller: 'bearer',
  body: Input({
    currentPassword: Type.String({ minLength: 1, maxLength: 200, description: 'The password that is replaced.' }),
    newPassword: Type.String({
      minLength: 8,
      maxLength: 200,
      description: 'Neither a common password, nor the name or the email of the user.',
    }),
  }),
  bodyProblem: 'VALUE_INVALID',
  bodyExample: { currentPassword: 'correct horse battery', newPassword: 'a longer horse battery' },
  answers: { 200: { description: 'Changed.', schema: DONE, example: { success: true, message: CHANGED } } },
  problems: [403],
  async handle({ deps, request, body }) {
    const outcome = await changeOwnPassword(deps, body, request.origin);
    if ('problem' in outcome) throw toOwnProblem(outcome.problem, outcome.decisionId);
    const decided = outcome.decisionId === undefined ? {} : { 'x-decision-id': outcome.decisionId };
    return respond(200, { success: true, message: CHANGED }, { ...NO_STORE, ...decided });
  },
});

/** Returns the problem of an update of the record with the names of this endpoint, and with the id of its audit entry. */
function toOwnProblem({ code, detail, extras }: Problem, decisionId: string | undefined): Problem {
  const errors = extras.errors?.map((issue) => (issue.path === 'password' ? { ...issue, path: 'newPassword' } : issue));
  return new Problem(code, detail, {
    ...extras,
    ...(errors !== undefined && { errors }),
    ...(decisionId !== undefined && { decisionId }),
  });
}
