import { diffPolicies, type Policy } from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { component, Input, Type } from '../../schemas/index.ts';
import { loadPolicyChanges, loadPolicyVersion, loadUserNames, type StoredChange, type Transaction } from '../../storage/index.ts';
import { type AdminEndpoint, type AdminRequest, adminEndpoint, parseChangeCursor, toChangeCursor } from '../admin/index.ts';
import { cursor, limit, name, PAGED } from '../schema-members.ts';
import { CHANGE, CHANGE_MEMBERS, type DescribedChange, describeChange } from './policy-changes.ts';
import { DIFFERENCE, DIFFERENCE_EXAMPLE } from './policy-differences.ts';
import { POLICY, POLICY_EXAMPLE } from './policy-responses.ts';

const tag = 'Admin policies';
const PAGE = { max: 100, fallback: 20, of: 'changes' };
const PAGE_QUERY = { limit: limit(PAGE), cursor: cursor() };
const POLICY_ID = name('Id of the policy. The policy may be deleted.');

const VERSION_EXAMPLE = {
  revision: 12,
  at: '2026-01-31T09:00:00.000Z',
  by: { id: POLICY_EXAMPLE.createdBy, name: 'Ada' },
  reason: 'editors may no longer delete drafts',
  change: 'updated',
  summary: DIFFERENCE_EXAMPLE.meaning,
} as const;

const CHANGE_EXAMPLE = {
  ...VERSION_EXAMPLE,
  subject: 'policy',
  policy: { id: POLICY_EXAMPLE.id, name: POLICY_EXAMPLE.name },
} as const;

const LISTED = {
  200: {
    description: 'The changes, newest first.',
    schema: envelope(Type.Array(CHANGE), PAGED),
    example: toSuccess([CHANGE_EXAMPLE], { count: 1 }),
  },
} as const;

const ofAll = adminEndpoint({
  method: 'GET',
  path: '/policies/history',
  id: 'policies.changes',
  tag,
  summary: 'Lists the changes of all policies and assignments, newest first.',
  query: Input(PAGE_QUERY),
  answers: LISTED,
  handle: async (admin) => respondPage(admin, undefined),
});

const ofOne = adminEndpoint({
  method: 'GET',
  path: '/policies/:id/history',
  id: 'policies.history',
  tag,
  summary: 'Lists the changes of a policy and its assignments, newest first, also after the policy is deleted.',
  params: Input({ id: POLICY_ID }),
  query: Input(PAGE_QUERY),
  answers: LISTED,
  problems: [404],
  async handle(admin) {
    const { id } = admin.params;
    if ((await loadPolicyVersion(admin.tx, id)) === undefined) throw unknownPolicy();
    return respondPage(admin, id);
  },
});

const VERSION = component('admin.PolicyVersion', Type.Object({ ...CHANGE_MEMBERS, policy: POLICY }));

const version = adminEndpoint({
  method: 'GET',
  path: '/policies/:id/versions/:revision',
  id: 'policies.version',
  tag,
  summary: 'Returns the version of a policy that was in force at a revision.',
  params: Input({
    id: POLICY_ID,
    revision: Type.String({
      pattern: '^[1-9][0-9]{0,14}$',
      maxLength: 15,
      description: 'A revision, as in the history or in `epoch` of an audit entry.',
    }),
  }),
  answers: {
    200: { description: 'The version.', schema: envelope(VERSION), example: toSuccess({ ...VERSION_EXAMPLE, policy: POLICY_EXAMPLE }) },
  },
  problems: [404],
  async handle(admin) {
    const { change, policy } = await requireVersion(admin, { id: admin.params.id, revision: Number(admin.params.revision) });
    return respond(200, toSuccess({ ...(await describeVersion(admin.tx, change)), policy }));
  },
});

/** The largest revision in a request. */
export const MAX_REVISION = 999_999_999_999;

const REVISION = Type.Integer({ minimum: 1, maximum: MAX_REVISION, description: 'Revision of the older version.' });

const diff = adminEndpoint({
  method: 'GET',
  path: '/policies/:id/diff',
  id: 'policies.diff',
  tag,
  summary: 'Compares two versions of a policy.',
  description:
    'Rules match by their ids, then by their content. A rule at another place is moved, not removed and added. Ids and times are not compared.',
  params: Input({ id: POLICY_ID }),
  query: Input({
    from: REVISION,
    to: Type.Optional({ ...REVISION, description: 'Revision of the newer version. Default: the current one.' }),
  }),
  answers: {
    200: {
      description: 'The differences.',
      schema: envelope(
        Type.Object({
          from: Type.Object(CHANGE_MEMBERS),
          to: Type.Object(CHANGE_MEMBERS),
          differences: Type.Array(DIFFERENCE),
        }),
        { count: PAGED.count },
      ),
      example: toSuccess(
        { from: { ...VERSION_EXAMPLE, revision: 7 }, to: VERSION_EXAMPLE, differences: [DIFFERENCE_EXAMPLE] },
        { count: 1 },
      ),
    },
  },
  problems: [404],
  async handle(admin) {
    const { tx, params, query } = admin;
    const older = await requireVersion(admin, { id: params.id, revision: query.from });
    const newer = await requireVersion(admin, { id: params.id, revision: query.to });
    const differences = diffPolicies(older.policy, newer.policy);
    const [from, to] = [await describeVersion(tx, older.change), await describeVersion(tx, newer.change)];
    return respond(200, toSuccess({ from, to, differences }, { count: differences.length }));
  },
});

/** Endpoints of the history of policies and assignments. */
export const policyHistoryEndpoints: readonly AdminEndpoint[] = [ofAll, ofOne, version, diff];

/** A version of a policy, and the change that created it. */
export interface PolicyVersion {
  readonly change: StoredChange;
  readonly policy: Policy;
}

/**
 * Loads the version of a policy at a revision. Without a revision, loads the current version.
 *
 * @throws Problem POLICY_UNKNOWN, or REVISION_UNKNOWN if the policy did not exist at the revision
 */
export async function requireVersion(
  { tx, snapshot }: Pick<AdminRequest, 'tx' | 'snapshot'>,
  { id, revision }: { readonly id: string; readonly revision?: number | undefined },
): Promise<PolicyVersion> {
  const current = snapshot.revision.number;
  if (revision !== undefined && revision > current)
    throw new Problem('REVISION_UNKNOWN', `there is no revision ${revision} yet: the current revision is ${current}`);
  const change = await loadPolicyVersion(tx, id, revision);
  if (change?.value !== undefined) return { change, policy: change.value as Policy };
  if (change !== undefined) throw new Problem('REVISION_UNKNOWN', `the policy was deleted by revision ${change.revision}`);
  if (revision === undefined || (await loadPolicyVersion(tx, id)) === undefined) throw unknownPolicy();
  throw new Problem('REVISION_UNKNOWN', `the policy did not exist at revision ${revision}`);
}

function unknownPolicy(): Problem {
  return new Problem('POLICY_UNKNOWN', 'no policy has or had this id');
}

type NamedChange = DescribedChange & { readonly by?: { readonly id: string; readonly name?: string } };

interface HistoryRequest extends Pick<AdminRequest, 'tx'> {
  readonly query: { readonly limit?: number; readonly cursor?: string };
}

async function respondPage({ tx, query }: HistoryRequest, policyId: string | undefined) {
  const { limit: most = PAGE.fallback, cursor: given } = query;
  const before = given === undefined ? undefined : parseChangeCursor(given);
  const found = await loadPolicyChanges(tx, { policyId, before, limit: most + 1 }, describeChange);
  const page = found.slice(0, most);
  const toNamed = await loadHistoryNames(tx, page);
  const last = page.at(-1);
  const next = found.length > most && last !== undefined ? { nextCursor: toChangeCursor(last) } : {};
  const changes = page.map(toNamed).map(({ id: _, ...change }) => change);
  return respond(200, toSuccess(changes, { count: changes.length, ...next }));
}

/** Loads the names of the authors and of the policies of assignments. Returns the function that adds them to a change. */
export async function loadHistoryNames(
  tx: Transaction,
  changes: readonly Omit<DescribedChange, 'id'>[],
): Promise<(change: DescribedChange) => NamedChange> {
  const users = await loadUserNames(tx, [...new Set(changes.flatMap(({ by }) => (by === undefined ? [] : [by.id])))]);
  const policies = new Map<string, string>();
  for (const id of new Set(changes.flatMap(({ policy }) => (policy.name === undefined ? [policy.id] : [])))) {
    const last = await loadPolicyVersion(tx, id);
    const state = last?.value ?? last?.before;
    if (state !== undefined && 'name' in state) policies.set(id, state.name);
  }
  return ({ by, policy, ...change }) => {
    const author = by && users.get(by.id);
    const policyName = policy.name ?? policies.get(policy.id);
    return {
      ...change,
      ...(by !== undefined && { by: { ...by, ...(author !== undefined && { name: author }) } }),
      policy: { ...policy, ...(policyName !== undefined && { name: policyName }) },
    };
  };
}

async function describeVersion(tx: Transaction, stored: StoredChange) {
  const described = describeChange(stored);
  const toNamed = await loadHistoryNames(tx, [described]);
  const { revision, at, by, reason, rolledBackTo, change, summary } = toNamed(described);
  const optional = { ...(reason !== undefined && { reason }), ...(rolledBackTo !== undefined && { rolledBackTo }) };
  return { revision, at, ...(by !== undefined && { by }), ...optional, change, summary };
}
