import { RULE_ACTIONS, type RuleAction } from '../actions.ts';
import { UNRESOLVED } from '../conditions/index.ts';
import { Problem } from '../errors.ts';
import { envelope, respond, toSuccess } from '../request/index.ts';
import { ordinaryResources, type Resource, type StoredRecord } from '../resources/index.ts';
import { component, Input, OneOf, Type, type TypeOf } from '../schemas/index.ts';
import { NOT_ACTIVE } from './access-test-endpoint.ts';
import { type AdminEndpoint, type AdminRequest, adminEndpoint } from './admin-endpoint.ts';
import { NAMED_POLICY, NAMED_RULE, WHEN } from './explanation-schemas.ts';
import {
  type DecisionSummary,
  decideForUser,
  loadIntactUser,
  type PartialRequest,
  toDecisionSummary,
  toUserSummary,
  type UserWithAssignments,
} from './partial-decisions.ts';
import { DRAFT, describeDraft, withDraft } from './policy-preview-draft.ts';
import { ENVIRONMENT, requireResources, toEnvironment } from './question-members.ts';
import { cursor, name, PAGED, TEXT } from './schema-members.ts';

/** Milliseconds after which a page ends early, because other requests wait while it is computed. */
const PAGE_TIME = 200;
/** Maximum number of resources that a question names. */
const MAX_RESOURCES = 500;

const QUESTION = component(
  'admin.PermissionsQuestion',
  Input({
    resources: Type.Optional(
      Type.Array(name('Name of a resource.'), { minItems: 1, maxItems: MAX_RESOURCES, description: 'Default: all resources.' }),
    ),
    environment: Type.Optional(ENVIRONMENT),
    draft: DRAFT,
    cursor: cursor(),
  }),
);

const PERMISSION = component(
  'admin.Permission',
  Type.Object({
    resource: TEXT,
    action: OneOf(RULE_ACTIONS),
    effect: OneOf(['allow', 'deny', 'conditional'] as const),
    reason: TEXT,
    rule: Type.Optional({ ...NAMED_RULE, description: 'The deciding rule; for `conditional`, the first rule that may allow.' }),
    policy: Type.Optional(NAMED_POLICY),
    when: Type.Optional(WHEN),
  }),
);

/** The endpoint that lists the permissions of a user: a decision with its reason for every resource and action. */
export const userPermissionsEndpoints: readonly AdminEndpoint[] = [
  adminEndpoint({
    method: 'POST',
    path: '/users/:userId/permissions',
    id: 'tests.permissions',
    tag: 'Admin access tests',
    summary: 'Lists the permissions of a user: every resource × every action, with reasons.',
    params: Input({ userId: name('Id of the user.') }),
    body: QUESTION,
    bodyOptional: true,
    bodyExample: { resources: ['Comment'], environment: { timestamp: '2026-03-02T10:00:00Z' } },
    question: ({ draft }) => describeDraft(draft),
    answers: {
      200: {
        description: 'One decision for each resource and action. It is `conditional` if it depends on the record or the request.',
        schema: envelope(Type.Array(PERMISSION), {
          ...PAGED,
          nextCursor: Type.Optional(Type.String({ description: 'Cursor of the next page; absent on the last. A page may end early.' })),
          user: Type.Object({ id: TEXT, name: Type.Optional(TEXT), email: TEXT, role: TEXT, isActive: Type.Boolean() }),
          warnings: Type.Optional(Type.Array(TEXT, { description: 'A warning if the user is inactive.' })),
        }),
        example: toSuccess(
          [
            {
              ...{ resource: 'Comment', action: 'create', effect: 'allow' },
              reason: 'allowed by rule "comments" of policy "Comment desk"',
              rule: { id: '0198c0de-0000-7000-8000-000000000002', description: 'comments' },
              policy: { id: '0198c0de-0000-7000-8000-000000000001', name: 'Comment desk' },
            },
          ],
          {
            user: { id: '0198c0de-0000-7000-8000-00000000000b', name: 'Cleo', email: 'cleo@example.com', role: 'user', isActive: true },
            count: 1,
          },
        ),
      },
    },
    problems: [404],
    async handle(request) {
      const admin = await withDraft(request, request.body.draft);
      const user = await loadIntactUser(admin, admin.params.userId);
      if (user === undefined) throw new Problem('USER_UNKNOWN', 'no user has this id');
      const { cells, next } = await fillCells(admin, resolveQuestion(admin, admin.body), user);
      const isActive = user['isActive'] === true;
      const extras = {
        user: { ...toUserSummary(user), isActive },
        count: cells.length,
        ...(next !== undefined && { nextCursor: toCellCursor(next) }),
        ...(!isActive && { warnings: [NOT_ACTIVE] }),
      };
      return respond(200, toSuccess(cells, extras));
    },
  }),
];

/** One combination of a resource and an action in the list of permissions. */
type Cell = Pick<PartialRequest, 'resource' | 'action'>;

interface PermissionsQuery extends Pick<PartialRequest, 'environment'> {
  readonly resources: readonly Resource[];
  /** Cursor of the previous page. */
  readonly cursor: string | undefined;
}

/** Decides cells in order until PAGE_TIME is over, but at least one cell. `next` is the first cell of the next page. */
async function fillCells(
  admin: AdminRequest,
  { resources, environment, cursor }: PermissionsQuery,
  user: StoredRecord,
): Promise<{ readonly cells: readonly Permission[]; readonly next: Cell | undefined }> {
  const known = { user, assignments: await admin.snapshot.assignments.of(admin.tx, user.id) };
  const end = performance.now() + PAGE_TIME;
  const all = resources.flatMap((resource) => RULE_ACTIONS.map((action): Cell => ({ resource, action })));
  const start = cursor === undefined ? 0 : all.findIndex((cell) => toCellCursor(cell) === cursor);
  if (start < 0) throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the page before');
  const cells: Permission[] = [];
  for (const cell of all.slice(start)) {
    if (cells.length > 0 && performance.now() > end) return { cells, next: cell };
    cells.push(await toPermission(admin, { ...cell, record: UNRESOLVED, environment }, known));
  }
  return { cells, next: undefined };
}

function toCellCursor({ resource, action }: Cell): string {
  return Buffer.from(`${resource.name} ${action}`).toString('base64url');
}

/** The decision for a resource and an action. */
type Permission = DecisionSummary & { readonly resource: string; readonly action: RuleAction; readonly reason: string };

async function toPermission(admin: AdminRequest, request: PartialRequest, user: UserWithAssignments): Promise<Permission> {
  const { decision } = await decideForUser(admin, request, user);
  return { resource: request.resource.name, action: request.action, reason: decision.reason, ...toDecisionSummary(decision) };
}

/** Resolves the names in a question. Repeated names count once; without names, the question is about all resources. */
function resolveQuestion({ snapshot }: AdminRequest, question: TypeOf<typeof QUESTION>): PermissionsQuery {
  const named = question.resources?.map((resource, index) => ({ name: resource, path: `resources.${index}` }));
  const resources =
    named === undefined ? ordinaryResources(snapshot.definitions) : [...new Set(requireResources(named, snapshot.definitions))];
  return { resources, environment: toEnvironment(question.environment), cursor: question.cursor };
}
