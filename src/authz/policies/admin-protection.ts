import { CHANGES_RECORDS } from '../../actions.ts';
import { memoize } from '../../memoize.ts';
import { type ApplicableRules, type CompiledRule, type CompileOptions, compileRule, type RankedRule } from './compiled-rule.ts';
import { DEFAULT_PRIORITY, type Policy, type PolicyRule } from './policy.ts';

/** The highest valid priority. The position of the rule does not depend on it: `withProtection` puts the rule first. */
const FIRST = 1_000_000_000;
const SINCE = '1970-01-01T00:00:00.000Z';

/** Id of the built-in rule, as audit entries and explanations name it. */
export const PROTECTION_ID = 'protect-admins';

const RULE: PolicyRule = {
  id: PROTECTION_ID,
  policyId: 'built-in',
  resource: 'User',
  action: '*',
  effect: 'DENY',
  conditions: [
    { field: 'resource.role', operator: 'eq', value: 'admin', ifExists: true },
    { field: 'resource.id', operator: 'ne', value: `\${user.id}` },
  ],
  priority: FIRST,
  description: 'admins are changed by admins or by themselves',
  isActive: true,
  createdAt: SINCE,
};

const POLICY: Policy = {
  id: RULE.policyId,
  name: 'Built-in protection of admins',
  type: 'ATTRIBUTE_BASED',
  rules: [RULE],
  isActive: true,
  priority: FIRST,
  createdBy: 'bailiwick',
  tags: [],
  createdAt: SINCE,
  updatedAt: SINCE,
  version: 1,
};

/** Limits for the conditions of the built-in rule. The configured limits apply only to rules of administrators. */
const LIMITS = {
  depth: 4,
  references: 4,
  comparisons: 4,
  listItems: 4,
  textLength: 100,
  expressionLength: 1,
  expressionDepth: 1,
  relatedRecords: 100,
};

/** The properties of a request that determine whether the built-in rule applies. */
interface ProtectionInput {
  readonly role: string;
  readonly resource: string;
  readonly action: string;
}

/** Returns true if the built-in rule applies: a principal of another role than `admin` changes users. */
export function isProtected({ role, resource, action }: ProtectionInput): boolean {
  return resource === 'User' && role !== 'admin' && CHANGES_RECORDS.has(action);
}

const compiled = new WeakMap<CompileOptions, CompiledRule>();
const protectedRules = new WeakMap<ApplicableRules, ApplicableRules>();

/**
 * Puts the built-in rule in front of the rules that apply: no policy can let others change an admin. It is a rule like any other
 * for the decision, its explanation and test requests, so all of them agree. If no other rule applies, it is not added:
 * the request is denied anyway, and keeps its reason.
 */
export function withProtection(applicable: ApplicableRules, options: CompileOptions): ApplicableRules {
  if (applicable.rules.length === 0) return applicable;
  return memoize(protectedRules, applicable, () => {
    const limits = { ...options.limits, conditions: LIMITS };
    const rule = memoize(compiled, options, () => compileRule(POLICY, RULE, { ...options, limits }));
    const first: RankedRule = { rule, assignmentPriority: DEFAULT_PRIORITY };
    const own = rule.paths.map((path) => ({ path, first: 0 }));
    const others = applicable.reads.filter(({ path }) => !rule.paths.some(({ text }) => text === path.text));
    return Object.freeze({
      ...applicable,
      ranked: [first, ...applicable.ranked],
      rules: [rule, ...applicable.rules],
      reads: [...own, ...others.map((read) => ({ ...read, first: read.first + 1 }))],
    });
  });
}
