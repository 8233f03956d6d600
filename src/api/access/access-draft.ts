/** Drafts in requests: changes of policies and assignments that a question is answered with. They are never stored. */
import { snapshotWithDraft } from '../../authz/index.ts';
import { ACCESS_DRAFT, type AccessDraft, namesInDraft, parseDraft } from '../../authz/policies/index.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../../operators/index.ts';
import { described, Type } from '../../schemas/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { findUnknownUsers, loadPolicies, loadPolicyNames } from '../../storage/index.ts';
import type { AdminRequest } from '../admin/index.ts';
import { refuseQuestion } from './question-members.ts';

/** The schema of the member `draft`. `requireDraft` validates it. */
export const DRAFT = Type.Optional(described<Json>(ACCESS_DRAFT));

/** The parts of a request that a draft is validated with. */
type DraftRequest = Pick<AdminRequest, 'tx' | 'snapshot' | 'deps'>;

/** Parses a draft. @throws Problem REQUEST_MALFORMED with every mistake, with paths that begin with `draft` */
export async function requireDraft({ tx, snapshot, deps }: DraftRequest, input: Json): Promise<AccessDraft> {
  const { changed, mentioned, names, userIds } = namesInDraft(input);
  const stored = await loadPolicies(tx, sql`${isOneOf('id', changed)} OR ${isOneOf('name', names)}`);
  const known = new Set([...stored.map(({ id }) => id), ...Object.keys(await loadPolicyNames(tx, mentioned))]);
  const unknownUsers = await findUnknownUsers(tx, userIds);
  const { draft, issues } = parseDraft(input, {
    definitions: snapshot.definitions,
    limits: deps.limits,
    snapshot: snapshot.policies,
    stored,
    hasPolicy: (id) => known.has(id),
    hasUser: (id) => !unknownUsers.has(id),
    assignmentsOf: await snapshot.assignments.ofEach(tx, userIds),
    now: tx.now,
  });
  refuseQuestion(issues.map((issue) => ({ ...issue, path: issue.path === '' ? 'draft' : `draft.${issue.path}` })));
  return { ...(draft as AccessDraft), assigned: await snapshot.assignments.policies(tx, [...known]) };
}

function isOneOf(column: 'id' | 'name', values: readonly string[]): Sql {
  // PostgreSQL refuses an empty list.
  return values.length === 0 ? sql`1 = 0` : sql`${sql.ref(column)} IN (${sql.join(values)})`;
}

/** Returns a request whose snapshot has the changes of its draft, or the request itself if it has none. @throws Problem REQUEST_MALFORMED */
export async function withDraft<Admin extends DraftRequest>(admin: Admin, input: Json | undefined): Promise<Admin> {
  if (input === undefined) return admin;
  return { ...admin, snapshot: snapshotWithDraft(admin.snapshot, await requireDraft(admin, input)) };
}

/** Maximum number of policy ids of a draft that an audit entry names. */
const NAMED_IDS = 20;

/** Returns the member `draft` of a question in the audit log: the sizes of the draft, and the ids of the stored policies that it changes or removes. */
export function describeDraft(input: Json | undefined): JsonObject {
  if (!isObject(input)) return {};
  const sizes = Object.entries(input).map(([name, list]) => [name, Array.isArray(list) ? list.length : 0] as const);
  const { changed } = namesInDraft(input);
  const removed = ownValue(input, 'removePolicies');
  const policyIds = [...changed, ...(Array.isArray(removed) ? removed : [])].slice(0, NAMED_IDS);
  return { draft: { ...Object.fromEntries(sizes), ...(policyIds.length > 0 && { policyIds }) } };
}
