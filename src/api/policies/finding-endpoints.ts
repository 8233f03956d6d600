import { snapshotWithDraft } from '../../authz/index.ts';
import { FINDING_LEVELS, FINDINGS, type Finding, type FindingCode, lintAssignment, sortFindings } from '../../authz/linter/index.ts';
import { EMPTY_DRAFT, type Policy, type RolePolicy, type UserPolicy } from '../../authz/policies/index.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { component, Input, OneOf, Type } from '../../schemas/index.ts';
import { loadPolicyPage } from '../../storage/index.ts';
import { type AdminEndpoint, type AdminRequest, adminEndpoint, parseIdCursor, toIdCursor } from '../admin/index.ts';
import { BY_ID, loadUserLabels } from '../decisions/index.ts';
import { cursor, limit, name, PAGED, TEXT } from '../schema-members.ts';
import { requirePolicy } from './require-policy.ts';
import { createPolicyLinter, type LintRequest, lintOne, type StoredPolicyLinter } from './stored-policy-linter.ts';

/** Number of policies that a page covers. */
const PAGE = { fallback: 100, max: 1000, of: 'policies' };
/** Number of policies that are loaded at once. */
const LOADED = 50;
/** Milliseconds after which a page ends early, because other requests wait during the search. */
const SEARCH_TIME = 200;
/** Number of findings after which a page ends. */
const PAGE_ITEMS = 1000;
/** Maximum number of findings in the response to a change. */
const WARNINGS = 100;

const CODES: readonly FindingCode[] = [...FINDINGS.keys()];
const RULE = Type.Object({ id: TEXT, description: Type.Optional(TEXT) });
const POLICY = Type.Object({ id: TEXT, name: TEXT });

const FINDING = component(
  'admin.Advice',
  Type.Object({
    code: OneOf(CODES, { description: [...FINDINGS].map(([code, about]) => `\`${code}\`: ${about}.`).join(' ') }),
    level: OneOf(FINDING_LEVELS, { description: '`warning`: probably a mistake; `info`: often intended.' }),
    detail: TEXT,
    todo: Type.String({ description: 'What to do.' }),
    policy: POLICY,
    rule: Type.Optional({ ...RULE, description: 'Absent if the finding is about the whole policy.' }),
    path: Type.Optional(
      Type.String({ description: 'Path of the member, such as `rules.0.conditions`. Absent if the finding is about assignments.' }),
    ),
    other: Type.Optional(Type.Object({ rule: RULE, policy: POLICY }, { description: 'The other rule of a finding about two rules.' })),
    users: Type.Optional(Type.Array(TEXT, { description: 'Ids of users whose assignments the finding is about. At most 20.' })),
    role: Type.Optional(Type.String({ description: 'The role whose assignment the finding is about.' })),
  }),
);

/** The members of a response to a written policy or assignment that contain its findings. */
export const WARNED = {
  warnings: Type.Optional(Type.Array(FINDING, { description: 'Findings about the written policy or assignment. At most 100.' })),
  warningsTruncated: Type.Optional(
    Type.Unsafe<true>({
      const: true,
      description: 'There are more findings; `GET /admin/api/policies-advice?policyId=…` lists all.',
    }),
  ),
} as const;

const EXAMPLE: Finding = {
  code: 'never-fires',
  level: 'warning',
  detail: 'the rule never fires: rule "closed until launch" of policy "Editors" has no conditions and always comes before this ALLOW',
  todo: 'delete this rule, give it a higher priority than 900, or add conditions to the DENY',
  policy: { id: '0198c0de-0000-7000-8000-000000000001', name: 'Editors' },
  rule: { id: '0198c0de-0000-7000-8000-000000000002', description: 'editors read every article' },
  path: 'rules.0',
  other: {
    rule: { id: '0198c0de-0000-7000-8000-000000000003', description: 'closed until launch' },
    policy: { id: '0198c0de-0000-7000-8000-000000000001', name: 'Editors' },
  },
};

/** The endpoint that lists findings of the policy linter. */
export const findingEndpoints: readonly AdminEndpoint[] = [
  adminEndpoint({
    method: 'GET',
    path: '/policies-advice',
    id: 'advice.list',
    tag: 'Admin policies',
    summary: 'Lists policy findings: rules that are valid but probably wrong, and what to do.',
    description: 'Findings are listed by policy. A page may end early; `nextCursor` is present if more policies follow.',
    query: Input({
      policyId: Type.Optional(name('Only findings about this policy.')),
      code: Type.Optional(OneOf(CODES, { description: 'Only findings with this code.' })),
      names: Type.Optional(Type.Boolean({ description: 'True to add the names of the users.' })),
      limit: limit(PAGE),
      cursor: cursor(),
    }),
    answers: {
      200: {
        description: 'The findings.',
        schema: envelope(Type.Array(FINDING), {
          ...PAGED,
          names: Type.Optional(
            Type.Object({ users: BY_ID }, { description: 'The name or email of users by their ids. Without users that were deleted.' }),
          ),
        }),
        example: toSuccess([EXAMPLE], { count: 1 }),
      },
    },
    problems: [404],
    async handle(admin) {
      const { policyId, code, names = false, limit: maxPolicies = PAGE.fallback, cursor: given } = admin.query;
      const { tx, snapshot } = admin;
      const linter = createPolicyLinter(admin, admin.snapshot);
      const { findings, next } =
        policyId === undefined
          ? await lintPage(admin, { linter, limit: maxPolicies, after: given === undefined ? undefined : parseIdCursor('policy', given) })
          : { findings: await lintOne(linter, await requirePolicy(admin.tx, policyId)) };
      const selected = findings.filter((finding) => code === undefined || finding.code === code);
      const userIds = [...new Set(selected.flatMap(({ users = [] }) => users))];
      const extras = {
        count: selected.length,
        ...(next !== undefined && { nextCursor: toIdCursor('policy', next) }),
        ...(names && { names: { users: await loadUserLabels(tx, snapshot.user, userIds) } }),
      };
      return respond(200, toSuccess(selected, extras));
    },
  }),
];

/** The findings about a written policy or assignment, as members of the response. */
export interface PolicyWarnings {
  readonly warnings?: readonly Finding[];
  readonly warningsTruncated?: true;
}

/** Returns the findings about a policy that was just written, as `warnings` of the response. */
export async function policyWarnings(
  admin: Pick<AdminRequest, 'tx' | 'snapshot' | 'deps'>,
  policy: Policy,
  { isNew = false }: { readonly isNew?: boolean } = {},
): Promise<PolicyWarnings> {
  // Without the time limit of the writer: findings never refuse a change, and the linter reads at most 10,000 users and the assignments of 20.
  const findings = await admin.tx.withoutTimeLimit(async () => {
    // Reads the policies after the change, so that the findings consider the change.
    return lintOne(createPolicyLinter(admin, await admin.deps.policyStore.snapshotAfterChange(admin.tx)), policy);
  });
  // A new policy cannot have assignments yet.
  return toWarnings(findings.filter(({ code }) => !(isNew && code === 'unassigned')));
}

/** Returns the findings about a policy that is not stored, as it would have if it were written now. */
export async function draftWarnings(admin: LintRequest, policy: Policy, { isNew }: { readonly isNew: boolean }): Promise<PolicyWarnings> {
  const { snapshot } = admin;
  const draft = { ...EMPTY_DRAFT, policies: new Map([[policy.id, policy]]) };
  const linter = createPolicyLinter(admin, snapshotWithDraft(snapshot, draft));
  const findings = await lintOne(linter, policy);
  return toWarnings(findings.filter(({ code }) => !(isNew && code === 'unassigned')));
}

/** Returns the findings about an assignment that was just written. */
export function assignmentWarnings({ snapshot, tx }: LintRequest, policy: Policy, assignment: UserPolicy | RolePolicy): PolicyWarnings {
  return toWarnings(lintAssignment(policy, assignment, { definitions: snapshot.definitions, now: tx.now }));
}

function toWarnings(findings: readonly Finding[]): PolicyWarnings {
  if (findings.length === 0) return {};
  return { warnings: sortFindings(findings).slice(0, WARNINGS), ...(findings.length > WARNINGS && { warningsTruncated: true }) };
}

interface FindingPage {
  readonly linter: StoredPolicyLinter;
  readonly limit: number;
  /** The page begins after the policy with this id. */
  readonly after: string | undefined;
}

/** Lints policies in the order of their ids until the page is full or its time is over. `next` is the id of the last policy on the page. */
async function lintPage(
  { tx }: LintRequest,
  { linter, limit, after }: FindingPage,
): Promise<{ findings: readonly Finding[]; next?: string }> {
  const end = performance.now() + SEARCH_TIME;
  const findings: Finding[] = [];
  let last = after;
  for (let left = limit; ; ) {
    const policies = await loadPolicyPage(tx, { after: last === undefined ? undefined : { id: last }, limit: LOADED });
    const lint = await linter(policies);
    for (const policy of policies) {
      if (last !== undefined && (left === 0 || findings.length >= PAGE_ITEMS || performance.now() > end)) return { findings, next: last };
      findings.push(...lint(policy));
      last = policy.id;
      left--;
    }
    if (policies.length < LOADED) return { findings };
  }
}
