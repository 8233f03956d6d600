/** Lists of permissions: a partial decision with its reason for every resource and action. The questions about a user and a role share them. */
import { RULE_ACTIONS, type RuleAction } from '../../actions.ts';
import { UNRESOLVED } from '../../conditions/index.ts';
import { Problem } from '../../errors.ts';
import { ordinaryResources, type Resource } from '../../resources/index.ts';
import { component, Input, OneOf, Type, type TypeOf } from '../../schemas/index.ts';
import type { AdminRequest } from '../admin/index.ts';
import { NAMED_POLICY, NAMED_RULE, RESIDUAL } from '../decisions/index.ts';
import { cursor, name, PAGED, TEXT } from '../schema-members.ts';
import { DRAFT } from './access-draft.ts';
import { type DecisionSummary, type PartialDecision, type PartialRequest, toDecisionSummary } from './partial-decisions.ts';
import { ENVIRONMENT, requireResources, toEnvironment } from './question-members.ts';

/** Milliseconds after which a page ends early, because other requests wait while it is computed. */
const PAGE_TIME = 200;
/** Maximum number of resources that a question names. */
const MAX_RESOURCES = 500;

/** The schema of a question about permissions. */
export const PERMISSIONS_QUESTION = component(
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

/** The schema of a permission. */
export const PERMISSION = component(
  'admin.Permission',
  Type.Object({
    resource: TEXT,
    action: OneOf(RULE_ACTIONS),
    effect: OneOf(['allow', 'deny', 'conditional'] as const),
    reason: TEXT,
    rule: Type.Optional({ ...NAMED_RULE, description: 'The deciding rule; for `conditional`, the first rule that may allow.' }),
    policy: Type.Optional(NAMED_POLICY),
    ...RESIDUAL,
  }),
);

/** The members of a page of permissions. */
export const PERMISSIONS_PAGED = {
  ...PAGED,
  nextCursor: Type.Optional(Type.String({ description: 'Cursor of the next page; absent on the last. A page may end early.' })),
} as const;

/** An example of a permission. */
export const PERMISSION_EXAMPLE = {
  ...{ resource: 'Comment', action: 'create', effect: 'allow' },
  reason: 'allowed by rule "comments" of policy "Comment desk"',
  rule: { id: '0198c0de-0000-7000-8000-000000000002', description: 'comments' },
  policy: { id: '0198c0de-0000-7000-8000-000000000001', name: 'Comment desk' },
} as const;

/** One combination of a resource and an action in the list of permissions. */
type Cell = Pick<PartialRequest, 'resource' | 'action'>;

interface PermissionsQuery extends Pick<PartialRequest, 'environment'> {
  readonly resources: readonly Resource[];
  /** Cursor of the previous page. */
  readonly cursor: string | undefined;
}

/** A page of permissions. */
interface PermissionsPage {
  readonly permissions: readonly Permission[];
  readonly extras: { readonly count: number; readonly nextCursor?: string };
}

/** Decides each resource and action of a question in order until PAGE_TIME is over, but at least one. @throws Problem REQUEST_CURSOR */
export async function listPermissions(
  { snapshot }: Pick<AdminRequest, 'snapshot'>,
  question: TypeOf<typeof PERMISSIONS_QUESTION>,
  decide: (request: PartialRequest) => Promise<PartialDecision>,
): Promise<PermissionsPage> {
  const { cells, next } = await fillCells(resolveQuestion(snapshot, question), decide);
  return { permissions: cells, extras: { count: cells.length, ...(next !== undefined && { nextCursor: toCellCursor(next) }) } };
}

/** Decides cells until the time of the page is over. `next` is the first cell of the next page. */
async function fillCells(
  { resources, environment, cursor: given }: PermissionsQuery,
  decide: (request: PartialRequest) => Promise<PartialDecision>,
): Promise<{ readonly cells: readonly Permission[]; readonly next: Cell | undefined }> {
  const end = performance.now() + PAGE_TIME;
  const all = resources.flatMap((resource) => RULE_ACTIONS.map((action): Cell => ({ resource, action })));
  const start = given === undefined ? 0 : all.findIndex((cell) => toCellCursor(cell) === given);
  if (start < 0) throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the page before');
  const cells: Permission[] = [];
  for (const cell of all.slice(start)) {
    if (cells.length > 0 && performance.now() > end) return { cells, next: cell };
    const { decision } = await decide({ ...cell, record: UNRESOLVED, environment });
    cells.push({ resource: cell.resource.name, action: cell.action, reason: decision.reason, ...toDecisionSummary(decision) });
  }
  return { cells, next: undefined };
}

function toCellCursor({ resource, action }: Cell): string {
  return Buffer.from(`${resource.name} ${action}`).toString('base64url');
}

/** The decision for a resource and an action. */
type Permission = DecisionSummary & { readonly resource: string; readonly action: RuleAction; readonly reason: string };

/** Resolves the names in a question. Repeated names count once; without names, the question is about all resources. */
function resolveQuestion(snapshot: AdminRequest['snapshot'], question: TypeOf<typeof PERMISSIONS_QUESTION>): PermissionsQuery {
  const named = question.resources?.map((resource, index) => ({ name: resource, path: `resources.${index}` }));
  const resources =
    named === undefined ? ordinaryResources(snapshot.definitions) : [...new Set(requireResources(named, snapshot.definitions))];
  return { resources, environment: toEnvironment(question.environment), cursor: question.cursor };
}
