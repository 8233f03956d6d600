import { Problem, type ProblemCode } from '../errors.ts';
import type { RequestOrigin } from '../request/index.ts';
import { appendWithOutcome, type Outcome, runPipeline } from './pipeline.ts';
import { CURRENT_PASSWORD, createRequestContext, type PipelineDeps, type UnitOfWork } from './request-context.ts';
import { authenticate, withUnitOfWork } from './unit-of-work.ts';

/** A new password of the caller, with the present one as proof. */
export interface OwnPasswordChange {
  readonly currentPassword: string;
  readonly newPassword: string;
}

/** The problems that are attempts to guess the current password. They have an entry of kind `auth` beside that of the decision. */
const GUESSES: ReadonlySet<ProblemCode> = new Set(['IDENTITY_CURRENT_PASSWORD', 'IDENTITY_THROTTLED']);

/**
 * Sets the password of the caller and ends the other sessions of the caller. This is an update of the caller's own User record: policies decide
 * it, the values are validated, and the current password is verified, all by the steps of an update.
 *
 * @throws Problem IDENTITY_REQUIRED, IDENTITY_TOKEN, IDENTITY_ISSUER
 */
export async function changeOwnPassword(deps: PipelineDeps, change: OwnPasswordChange, origin: RequestOrigin): Promise<Outcome> {
  const caller = await authenticate(deps, origin);
  const { sessionId } = caller;
  if (origin.token === undefined) throw new Problem('IDENTITY_REQUIRED', 'expected a bearer token, given none');
  if (sessionId === undefined) throw new Problem('IDENTITY_ISSUER', 'this token is of another issuer, which manages its passwords');
  return withUnitOfWork(deps, { caller }, async (unit) => {
    const outcome = await updatePassword(unit, change, sessionId);
    const { id: userId, role } = unit.principal;
    const event = { action: 'password', origin, userId, role, sessionId } as const;
    if ('result' in outcome) {
      await deps.identity.appendEntry(unit.tx, { ...event, reason: 'set a new password and ended the other sessions' });
    } else if (GUESSES.has(outcome.problem.code)) {
      await deps.identity.appendEntry(unit.tx, { ...event, reason: outcome.problem.detail }, outcome.problem);
    }
    return outcome;
  });
}

async function updatePassword(unit: UnitOfWork, { currentPassword, newPassword }: OwnPasswordChange, sessionId: string): Promise<Outcome> {
  const data = { password: newPassword, [CURRENT_PASSWORD]: currentPassword };
  const request = { resource: 'User', action: 'update', id: unit.principal.id, data, ifMatch: '*', ...NO_QUERY } as const;
  const context = { ...createRequestContext(unit, request), keptSession: sessionId };
  const outcome = await runPipeline(context);
  if ('result' in outcome) context.hashes.assertComplete();
  appendWithOutcome(context, outcome);
  return outcome;
}

const NO_QUERY = { where: [], typed: true, sort: [], total: false } as const;
