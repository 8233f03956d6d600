import { POLICY_TYPES } from '../../authz/policies/index.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { ASSIGNABLE_ROLES, type AssignableRole } from '../../resources/index.ts';
import { Input, OneOf, Type } from '../../schemas/index.ts';
import {
  type Assignee,
  createAnswerSize,
  findPolicyIds,
  loadFittingPolicies,
  loadPolicySummaries,
  loadUserNames,
  POLICY_ORDERS,
  type PolicyOrder,
  type PolicyPosition,
  type PolicySummary,
  type Transaction,
} from '../../storage/index.ts';
import { type AdminEndpoint, adminEndpoint, parsePolicyCursor, toPolicyCursor } from '../admin/index.ts';
import { cursor, limit, name, PAGED_BY_SIZE, pageEnded } from '../schema-members.ts';
import { countFindings } from './finding-counts.ts';
import { POLICY, POLICY_EXAMPLE, POLICY_SUMMARY } from './policy-responses.ts';
import type { LintRequest } from './stored-policy-linter.ts';

const PAGE = { max: 1000, fallback: 100, of: 'policies' };
/** A name has at most 200 characters of up to three bytes each. */
const MAX_CURSOR = 2000;

const ASSIGNEE = Type.String({
  maxLength: 205,
  pattern: `^(?:role:(?:${ASSIGNABLE_ROLES.join('|')})|user:.+)$`,
  description: 'Only policies that are assigned to this role or user: `role:editor`, or `user:` and the id of a user.',
  examples: ['role:editor'],
});

/** The endpoint that searches policies. */
export const policySearchEndpoints: readonly AdminEndpoint[] = [
  adminEndpoint({
    method: 'GET',
    path: '/policies',
    id: 'policies.list',
    tag: 'Admin policies',
    summary: 'Searches policies. With `summary`, leaves out their rules and adds numbers.',
    query: Input({
      search: Type.Optional(name('Only policies whose name or description contains this text. Case does not count.')),
      resource: Type.Optional(name('Only policies with a rule that names this resource, or `*`.')),
      tag: Type.Optional(name('Only policies with this tag.')),
      assignedTo: Type.Optional(ASSIGNEE),
      isActive: Type.Optional(Type.Boolean({ description: 'Only active (true) or inactive (false) policies.' })),
      type: Type.Optional(OneOf(POLICY_TYPES, { description: 'Only policies of this type.' })),
      sort: Type.Optional(OneOf(POLICY_ORDERS, { description: 'The order. A leading `-` sorts in descending order. Default: id.' })),
      summary: Type.Optional(Type.Boolean({ description: 'Return summaries without rules. Default: false.' })),
      limit: limit(PAGE),
      cursor: cursor(MAX_CURSOR),
    }),
    answers: {
      200: {
        description: 'The policies.',
        schema: envelope(Type.Array(Type.Union([POLICY, POLICY_SUMMARY])), PAGED_BY_SIZE),
        example: toSuccess([POLICY_EXAMPLE], { count: 1 }),
      },
    },
    async handle(admin) {
      const { tx, query } = admin;
      const { sort: order = 'id', summary = false, limit: most = PAGE.fallback, cursor: given, assignedTo, ...filter } = query;
      const assignee = assignedTo === undefined ? undefined : toAssignee(assignedTo);
      const after = given === undefined ? undefined : parsePolicyCursor(order, given);
      const page = { ...filter, assignedTo: assignee, order, after, limit: most + 1 };
      if (!summary) {
        const { pageBytes } = admin.deps;
        const ids = await findPolicyIds(tx, page);
        const { policies, isCut } = await loadFittingPolicies(tx, ids.slice(0, most), createAnswerSize(pageBytes));
        const { items, extras } = toPage(policies, { order, hasMore: isCut || ids.length > most });
        return respond(200, toSuccess(items, { ...extras, ...(isCut && { warnings: [pageEnded(pageBytes)] }) }));
      }
      const found = await loadPolicySummaries(tx, page);
      const { items, extras } = toPage(found.slice(0, most), { order, hasMore: found.length > most });
      return respond(200, toSuccess(await withFindings(admin, await withNames(tx, items)), extras));
    },
  }),
];

type Sortable = Pick<PolicySummary, 'id' | 'name' | 'updatedAt' | 'priority'>;

interface PageOptions {
  readonly order: PolicyOrder;
  readonly hasMore: boolean;
}

/** Returns the policies of a page, and the members of its envelope. */
function toPage<Item extends Sortable>(items: readonly Item[], { order, hasMore }: PageOptions) {
  const last = items.at(-1);
  const next = hasMore && last !== undefined ? { nextCursor: toPolicyCursor(order, positionOf(order, last)) } : {};
  return { items, extras: { count: items.length, ...next } };
}

/** Parses a validated `assignedTo`. */
function toAssignee(text: string): Assignee {
  const id = text.slice('user:'.length);
  return text.startsWith('user:') ? { userId: id } : { role: id as AssignableRole };
}

function positionOf(order: PolicyOrder, policy: Sortable): PolicyPosition {
  const key = order.replace('-', '') as keyof Sortable;
  return { id: policy.id, ...(key !== 'id' && { key: policy[key] }) };
}

/** Adds the numbers of findings that are counted in time. */
async function withFindings<Summary extends Pick<PolicySummary, 'id' | 'assignments'>>(admin: LintRequest, summaries: readonly Summary[]) {
  const counts = await countFindings(admin, summaries);
  return summaries.map((summary) => {
    const findings = counts.get(summary.id);
    return findings === undefined ? summary : { ...summary, findings };
  });
}

/** Adds the names of the authors. */
async function withNames(tx: Transaction, summaries: readonly PolicySummary[]) {
  const names = await loadUserNames(tx, [...new Set(summaries.flatMap(({ lastChange }) => lastChange?.by ?? []))]);
  return summaries.map(({ lastChange, ...summary }) => {
    if (lastChange === undefined) return summary;
    const { by, ...change } = lastChange;
    const author = by === undefined ? undefined : names.get(by);
    return {
      ...summary,
      lastChange: { ...change, ...(by !== undefined && { by: { id: by, ...(author !== undefined && { name: author }) } }) },
    };
  });
}
