import { CREATES_RECORD } from '../../actions.ts';
import { type Decision, decidingRule } from '../../authz/decision/index.ts';
import { namesInDraft } from '../../authz/policies/index.ts';
import { UNRESOLVED } from '../../conditions/index.ts';
import { Problem } from '../../errors.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { ASSIGNABLE_ROLES, type AssignableRole } from '../../resources/index.ts';
import { component, Input, OneOf, Type, type TypeOf } from '../../schemas/index.ts';
import { loadCandidates } from '../../storage/index.ts';
import { type AdminEndpoint, type AdminRequest, adminEndpoint, parseIdCursor, toIdCursor } from '../admin/index.ts';
import { NAMED_POLICY, NAMED_RULE, RESIDUAL } from '../decisions/index.ts';
import { cursor, limit, name, PAGED, TEXT } from '../schema-members.ts';
import { DRAFT, describeDraft, withDraft } from './access-draft.ts';
import {
  decideForRole,
  decideForUser,
  loadAskedRecord,
  type PartialDecision,
  type PartialRequest,
  type PossibleSummary,
  toDecisionSummary,
  toUserSummary,
  type UserSummary,
} from './partial-decisions.ts';
import { ENVIRONMENT, refuseQuestion, requireResource, TESTED_ACTION, toEnvironment, toRuleAction } from './question-members.ts';

const PAGE = { fallback: 50, max: 1000, of: 'users' };
/** Number of users that one statement loads. */
const LOADED = 500;
/** Milliseconds after which a page ends early, because other requests wait during the search. */
const SEARCH_TIME = 200;

const QUESTION = component(
  'admin.WhoCanQuestion',
  Input({
    resource: name('Name of the resource.'),
    id: Type.Optional(name('Id of a record; without it, the query is about any record. Not allowed for create.')),
    action: TESTED_ACTION,
    environment: Type.Optional(ENVIRONMENT),
    draft: DRAFT,
    limit: limit(PAGE),
    cursor: cursor(),
  }),
);

const POSSIBLE = {
  effect: OneOf(['allow', 'conditional'] as const),
  rule: { ...NAMED_RULE, description: 'The deciding rule; for `conditional`, the first rule that may allow.' },
  policy: NAMED_POLICY,
  ...RESIDUAL,
} as const;

const ROLE_WHO_CAN = component('admin.RoleWhoCan', Type.Object({ role: OneOf(ASSIGNABLE_ROLES), ...POSSIBLE }));

const USER_WHO_CAN = component(
  'admin.UserWhoCan',
  Type.Object({
    id: TEXT,
    name: Type.Optional(TEXT),
    email: TEXT,
    role: TEXT,
    ...POSSIBLE,
    via: OneOf(['user', 'role'] as const, { description: '`user` if the rule applies only by an assignment of the user.' }),
  }),
);

const NAMED_IN_EXAMPLE = {
  rule: { id: '0198c0de-0000-7000-8000-000000000002', description: 'editors edit every article' },
  policy: { id: '0198c0de-0000-7000-8000-000000000001', name: 'Editors' },
};

/** The endpoint that finds the roles and stored users that may perform an action, and the rules that allow it. */
export const whoCanEndpoints: readonly AdminEndpoint[] = [
  adminEndpoint({
    method: 'POST',
    path: '/policies/who-can',
    id: 'tests.whoCan',
    tag: 'Admin access tests',
    summary: 'Lists the roles and users that may perform an action, with the rule.',
    description:
      'A role is decided without a user, and every decision is made without a request. A decision that depends on either is `conditional`. Active users are decided one by one, in the order of their ids. A page may end early; the list is complete only if `nextCursor` is absent.',
    body: QUESTION,
    bodyExample: { resource: 'Article', action: 'update', environment: { timestamp: '2026-03-02T10:00:00Z' } },
    question: ({ resource, action, id, draft }) => ({
      resource,
      action,
      ...(id !== undefined && { recordId: id }),
      ...describeDraft(draft),
    }),
    answers: {
      200: {
        description: 'The roles, and a page of the users.',
        schema: envelope(Type.Object({ roles: Type.Array(ROLE_WHO_CAN), users: Type.Array(USER_WHO_CAN) }), {
          count: Type.Integer({ minimum: 0, description: 'Number of users in the page.' }),
          nextCursor: PAGED.nextCursor,
        }),
        example: toSuccess(
          {
            roles: [{ role: 'admin', effect: 'allow', ...NAMED_IN_EXAMPLE }],
            users: [
              {
                ...{ id: '0198c0de-0000-7000-8000-00000000000b', name: 'Maya', email: 'maya@example.com', role: 'user' },
                ...{ effect: 'conditional', ...NAMED_IN_EXAMPLE, when: 'resource.department eq "politics"', via: 'user' },
              },
            ],
          },
          { count: 1 },
        ),
      },
    },
    problems: [404],
    async handle(request) {
      const admin = await withDraft(request, request.body.draft);
      const page = await resolveQuestion(admin, admin.body);
      const decisions = await decideForRoles(admin, page.request);
      const { users, next } = await findUsers(admin, page, decisions);
      const roles = decisions.flatMap(({ role, partial }) => {
        const summary = toDecisionSummary(partial.decision);
        return summary.effect === 'deny' ? [] : [{ role, ...summary }];
      });
      const extras = { count: users.length, ...(next !== undefined && { nextCursor: toIdCursor('user', next) }) };
      return respond(200, toSuccess({ roles, users }, extras));
    },
  }),
];

/** A query for one page of users. */
interface UserPage {
  readonly request: PartialRequest;
  readonly limit: number;
  /** The page begins after the user with this id. */
  readonly after: string | undefined;
  /** Users with an assignment in the draft. */
  readonly assigned: readonly string[];
}

interface RoleDecision {
  readonly role: AssignableRole;
  readonly partial: PartialDecision;
}

async function decideForRoles(admin: AdminRequest, request: PartialRequest): Promise<readonly RoleDecision[]> {
  const decisions: RoleDecision[] = [];
  for (const role of ASSIGNABLE_ROLES) decisions.push({ role, partial: await decideForRole(admin, request, role) });
  return decisions;
}

function isPossible({ decision }: PartialDecision): boolean {
  return decision.effect !== 'deny';
}

/** A user who may perform the action. `via` is the source of the deciding rule. */
type UserWhoCan = UserSummary & PossibleSummary & { readonly via: 'user' | 'role' };

/**
 * Returns the users who may perform the action, in the order of their ids, until the page is full or its time is over. If a role is
 * denied for all attributes, only its users with assignments of their own are examined.
 */
async function findUsers(
  admin: AdminRequest,
  page: UserPage,
  roles: readonly RoleDecision[],
): Promise<{ readonly users: readonly UserWhoCan[]; readonly next?: string }> {
  const end = performance.now() + SEARCH_TIME;
  const possible = roles.filter(({ partial }) => isPossible(partial)).map(({ role }) => role);
  const ofRole = new Map<string, RuleIds>(roles.map(({ role, partial }) => [role, new Set(partial.applicable.rules.map(({ id }) => id))]));
  const users: UserWhoCan[] = [];
  let after = page.after;
  for (;;) {
    const { users: candidates, last } = await loadCandidates(admin.tx, admin.snapshot.user, {
      roles: possible,
      also: page.assigned,
      after,
      scanLimit: LOADED,
    });
    const assignmentsOf = await admin.snapshot.assignments.ofEach(
      admin.tx,
      candidates.map(({ id }) => id),
    );
    for (const user of candidates) {
      const { decision } = await decideForUser(admin, page.request, { user, assignments: assignmentsOf(user.id) });
      const summary = toDecisionSummary(decision);
      if (summary.effect !== 'deny') {
        if (users.length === page.limit) return { users, ...(after !== undefined && { next: after }) };
        users.push({ ...toUserSummary(user), ...summary, via: sourceOf(decision, ofRole.get(String(user['role']))) });
      }
      after = user.id;
      if (performance.now() > end) return { users, next: after };
    }
    if (last === undefined) return { users };
    after = last;
    if (performance.now() > end) return { users, next: after };
  }
}

type RuleIds = ReadonlySet<string>;

/** Returns the source of the deciding rule: `role` if an assignment of the user's role applies the rule; otherwise `user`, because only an assignment of the user does. */
function sourceOf(decision: Decision, rulesOfRole: RuleIds | undefined): 'user' | 'role' {
  const rule = decidingRule(decision);
  return rule !== undefined && rulesOfRole?.has(rule.id) === true ? 'role' : 'user';
}

/** Resolves the names in a question: the resource, the record and the position of the page. */
async function resolveQuestion({ snapshot, tx }: AdminRequest, question: TypeOf<typeof QUESTION>): Promise<UserPage> {
  const resource = requireResource({ name: question.resource, path: 'resource' }, snapshot.definitions);
  const action = toRuleAction(question.action);
  const { id } = question;
  if (id !== undefined && CREATES_RECORD.has(action))
    refuseQuestion([{ path: 'id', code: 'unknown', detail: `expected no id: ${action} creates a record` }]);
  const after = question.cursor === undefined ? undefined : parseIdCursor('user', question.cursor);
  const isRestore = question.action === 'restore';
  const record = id === undefined ? UNRESOLVED : await loadAskedRecord(tx, resource, { id, isRestore });
  if (record === undefined) throw new Problem('RECORD_UNKNOWN', `no ${isRestore ? 'deleted ' : ''}${resource.name} has this id`);
  const environment = toEnvironment(question.environment);
  const assigned = namesInDraft(question.draft ?? {}).userIds;
  return { request: { resource, action, record, environment }, limit: question.limit ?? PAGE.fallback, after, assigned };
}
