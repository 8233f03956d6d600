import { REASON, toRoleAssignmentChange, toUserAssignmentChange } from '../../authz/policies/index.ts';
import { envelope, refuseMistakes, respond, toSuccess } from '../../request/index.ts';
import { Input, OneOf, Type } from '../../schemas/index.ts';
import { type BatchChange, type BatchResult, type BatchState, changeAssignments, loadBatchState } from '../../storage/index.ts';
import { type AdminEndpoint, type AdminRequest, adminEndpoint, runDry } from '../admin/index.ts';
import { ASSIGNMENT, assignmentWarnings, ROLE_POLICY_EXAMPLE, USER_POLICY_EXAMPLE, WARNED, withKind } from '../policies/index.ts';
import { COUNTED, MESSAGE } from '../schema-members.ts';
import {
  ASSIGNMENT_CHANGE,
  findBatchMistakes,
  findFormMistakes,
  findManagedAssignments,
  findMissingVersions,
  findStaleVersions,
  type GivenChange,
} from './assignment-changes.ts';

/** Maximum number of changes in a batch. */
const MAX_CHANGES = 1000;

const RESULT = Type.Object({
  result: OneOf(['created', 'renewed', 'updated', 'revoked']),
  assignment: { ...ASSIGNMENT, description: 'The assignment as it is now; as it was if it is revoked.' },
  ...WARNED,
});

const EXAMPLE = [
  { result: 'created', assignment: withKind(USER_POLICY_EXAMPLE) },
  { result: 'updated', assignment: withKind(ROLE_POLICY_EXAMPLE) },
] as const;

/** The endpoint that changes many assignments at once. */
export const assignmentBatchEndpoints: readonly AdminEndpoint[] = [
  adminEndpoint({
    method: 'POST',
    path: '/assignments/batch',
    id: 'assignments.batch',
    tag: 'Admin assignments',
    summary: 'Assigns, changes and revokes policies: all changes or none, in one revision. The response lists every mistake.',
    description:
      'A batch changes each assignment at most once. 412 names each change whose `version` is not the stored one; nothing is changed then.',
    body: Input({
      changes: Type.Array(ASSIGNMENT_CHANGE, { minItems: 1, maxItems: MAX_CHANGES }),
      reason: REASON,
      dryRun: Type.Optional(Type.Boolean({ description: 'Validate and return the results, but store nothing. Default: false.' })),
    }),
    bodyProblem: 'VALUE_INVALID',
    bodyExample: {
      changes: [
        {
          op: 'assign',
          policyId: USER_POLICY_EXAMPLE.policyId,
          userId: USER_POLICY_EXAMPLE.userId,
          expiresAt: '2027-01-01T00:00:00Z',
          context: { ticket: 7 },
        },
        { op: 'update', policyId: ROLE_POLICY_EXAMPLE.policyId, role: ROLE_POLICY_EXAMPLE.role, priority: 200, version: 12 },
      ],
      reason: 'the desk has changed',
    },
    answers: {
      200: {
        description: 'The result of each change, in their order.',
        schema: envelope(Type.Array(RESULT), {
          ...COUNTED,
          ...MESSAGE,
          dryRun: Type.Optional(Type.Unsafe<true>({ const: true, description: 'True if nothing was stored.' })),
        }),
        example: toSuccess(EXAMPLE, { count: 2, message: '1 created, 1 updated' }),
      },
    },
    problems: [409, 412, 428],
    async handle(admin) {
      const { reason, dryRun = false } = admin.body;
      const data = await (dryRun ? runDry(admin.tx, () => change(admin)) : change(admin));
      const summary = summarize(data);
      if (!dryRun)
        await admin.audit({ resource: 'Policy', action: 'assign', reason: `changed assignments: ${summary}`, changeReason: reason });
      const message = dryRun ? `${summary}; a dry run, nothing was stored` : summary;
      return respond(200, toSuccess(data, { count: data.length, message, ...(dryRun && { dryRun }) }));
    },
  }),
];

type BatchRequest = Pick<AdminRequest, 'tx' | 'snapshot' | 'deps' | 'admin'> & {
  readonly body: { readonly changes: readonly GivenChange[]; readonly reason?: string };
};

/** Validates and applies the changes. @throws Problem VALUE_INVALID, POLICY_MANAGED, RECORD_VERSION, RECORD_VERSION_REQUIRED, each with every mistake */
async function change(request: BatchRequest) {
  const { tx, deps, admin, body } = request;
  const given = body.changes;
  refuseMistakes('VALUE_INVALID', findFormMistakes(given));
  const changes = given.map(toBatchChange);
  const state = await loadBatchState(
    tx,
    changes.map(({ pair }) => pair),
  );
  refuseMistakes('VALUE_INVALID', findBatchMistakes(changes, { state, now: tx.now }));
  refuseMistakes('POLICY_MANAGED', findManagedAssignments(changes, state));
  const versions = changes.map(({ pair }, index) => ({ given: given[index]?.version, stored: state.find(pair)?.version }));
  refuseMistakes('RECORD_VERSION', findStaleVersions(versions));
  if (deps.ifMatch === 'required') refuseMistakes('RECORD_VERSION_REQUIRED', findMissingVersions(versions));
  const results = await changeAssignments(tx, { state, changes }, { by: admin.id, reason: body.reason });
  return results.map((result) => withWarnings(request, state, result));
}

function toBatchChange({ op, policyId, userId, role, version: _, ...members }: GivenChange): BatchChange {
  if (userId !== undefined) return { op, pair: { policyId, userId }, change: toUserAssignmentChange(members) };
  if (role !== undefined) return { op, pair: { policyId, role }, change: toRoleAssignmentChange(members) };
  throw new Error('a change without userId and role has a mistake');
}

function withWarnings(request: BatchRequest, { policies }: BatchState, { result, assignment }: BatchResult) {
  const policy = policies.get(assignment.policyId);
  const warnings = result === 'revoked' || policy === undefined ? {} : assignmentWarnings(request, policy, assignment);
  return { result, assignment: withKind(assignment), ...warnings };
}

function summarize(results: readonly Pick<BatchResult, 'result'>[]): string {
  const counts = Map.groupBy(results, ({ result }) => result);
  return [...counts].map(([result, same]) => `${same.length} ${result}`).join(', ');
}
