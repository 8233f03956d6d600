import { parsePolicy, toPolicyContent } from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import { Input, OneOf, Type } from '../../schemas/index.ts';
import { loadAssignmentsAt, ROLLBACK_ASSIGNMENTS, rollBackPolicy } from '../../storage/index.ts';
import { type AdminRequest, adminEndpoint, runDry, validatePolicyVersion, versionHeaders } from '../admin/index.ts';
import { MESSAGE, name, TEXT } from '../schema-members.ts';
import { policyWarnings, WARNED } from './finding-endpoints.ts';
import { MAX_REVISION, type PolicyVersion, requireVersion } from './policy-history-endpoints.ts';
import { POLICY, POLICY_EXAMPLE } from './policy-responses.ts';

const ASSIGNMENT = Type.Object({
  outcome: OneOf(['restored', 'revoked', 'skipped'], {
    description:
      '`restored`: as at the revision again; `revoked`: did not exist at the revision; `skipped`: not restored, because its user no longer exists.',
  }),
  userId: Type.Optional(TEXT),
  role: Type.Optional(OneOf(ASSIGNABLE_ROLES)),
});

/** The endpoint that restores a past version of a policy. The CLI uses it too. */
export const policyRollback = adminEndpoint({
  method: 'POST',
  path: '/policies/:id/rollback',
  id: 'policies.rollback',
  tag: 'Admin policies',
  summary: 'Restores the version of a policy that was in force at a revision, also of a deleted policy, in one revision.',
  description:
    'Restores the rules, with their ids, and all other members. Assignments stay as they are, unless `assignments` is true. For a deleted policy, `If-Match` names the revision that deleted it.',
  params: Input({ id: name('Id of the policy. The policy may be deleted.') }),
  ifMatch: true,
  body: Input({
    revision: Type.Integer({ minimum: 1, maximum: MAX_REVISION, description: 'The revision to return to.' }),
    reason: Type.String({ maxLength: 500, format: 'line', description: 'Reason of the change. The history and the audit log keep it.' }),
    assignments: Type.Optional(
      Type.Boolean({
        description: `Also restore the assignments that were removed or changed since, and revoke those that were added. At most ${ROLLBACK_ASSIGNMENTS}. Default: false.`,
      }),
    ),
    dryRun: Type.Optional(Type.Boolean({ description: 'Validate and return the results, but store nothing. Default: false.' })),
  }),
  bodyProblem: 'VALUE_INVALID',
  bodyExample: { revision: 12, reason: 'the change denied editors', assignments: true },
  answers: {
    200: {
      description: 'The policy as it is now, and the assignments that were restored or revoked.',
      schema: envelope(POLICY, {
        ...MESSAGE,
        assignments: Type.Array(ASSIGNMENT),
        dryRun: Type.Optional(Type.Unsafe<true>({ const: true, description: 'True if nothing was stored.' })),
        ...WARNED,
      }),
      headers: ['ETag'],
      example: toSuccess(
        { ...POLICY_EXAMPLE, version: 16 },
        { message: 'rolled back policy "Editors" to revision 12', assignments: [{ outcome: 'restored', role: 'editor' } as const] },
      ),
    },
  },
  problems: [404, 409, 412, 428],
  async handle(admin) {
    const { tx, params, body } = admin;
    const { revision, reason, dryRun = false } = body;
    const past = await requireVersion(admin, { id: params.id, revision });
    requireValid(admin, past, revision);
    const assignments =
      body.assignments === true
        ? await loadAssignmentsAt(tx, { policyId: params.id, revision, limit: ROLLBACK_ASSIGNMENTS + 1 })
        : undefined;
    const checkVersion = (version: number | undefined): void => validatePolicyVersion(admin, 'policy', version);
    const run = () => rollBackPolicy(tx, { policy: past.policy, revision, assignments }, { by: admin.admin.id, reason, checkVersion });
    const done = await (dryRun ? runDry(tx, run) : run());
    const message = `rolled back policy "${done.policy.name}" to revision ${revision}${summarize(done.assignments)}`;
    if (dryRun) {
      const { policy, assignments: changed } = done;
      return respond(200, toSuccess(policy, { message: `${message}; a dry run, nothing was stored`, assignments: changed, dryRun }));
    }
    await admin.audit({ resource: 'Policy', action: 'rollback', recordId: params.id, reason: message, changeReason: reason });
    const warnings = await policyWarnings(admin, done.policy);
    return respond(200, toSuccess(done.policy, { message, assignments: done.assignments, ...warnings }), versionHeaders(done.policy));
  },
});

/** Validates a past version like a new policy: the definitions may have changed since. @throws Problem POLICY_INVALID with every mistake */
function requireValid({ snapshot, deps }: Pick<AdminRequest, 'snapshot' | 'deps'>, { policy }: PolicyVersion, revision: number): void {
  const { issues } = parsePolicy(toPolicyContent(policy), { definitions: snapshot.definitions, limits: deps.limits });
  if (issues.length === 0) return;
  const detail = `the policy of revision ${revision} is not valid under the present definitions`;
  throw new Problem('POLICY_INVALID', detail, { errors: issues });
}

function summarize(assignments: readonly { readonly outcome: string }[]): string {
  const counts = Map.groupBy(assignments, ({ outcome }) => outcome);
  const texts = [...counts].map(([outcome, same]) => `${outcome} ${same.length} ${same.length === 1 ? 'assignment' : 'assignments'}`);
  return texts.length === 0 ? '' : `, ${texts.join(', ')}`;
}
