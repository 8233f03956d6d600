import type { Policy } from '../policies/index.ts';

/** The codes of findings with their descriptions, in the order of `sortFindings`. Codes about rules without effect come first. */
const DESCRIPTIONS = {
  'attribute-never-set': 'a condition reads an attribute that no active user has',
  'never-equal': 'a condition compares with a value that its field never has',
  'never-holds': 'no value meets all conditions on a field',
  'foreign-reference': 'a value looks like a reference of another product, or a reference without its marker, and is compared as a text',
  'unknown-resource': 'the resource of the rule has no definition',
  'unknown-field': 'a condition reads a member of `request.data` for which the resource has no field',
  'always-unknown': 'the definitions have changed, so a condition is always unknown',
  'never-fires': 'a rule without conditions and with the other effect always comes first',
  redundant: 'a rule without conditions and with the same effect always comes first',
  duplicate: 'another rule has the same resource, action, effect and conditions',
  conflict: 'a rule with the other effect has the same priorities: if both fire, the DENY wins',
  'unknown-role': 'the policy is assigned to a role that no user can have',
  'fires-on-missing': 'a DENY also fires if a value is missing',
  closes: 'a DENY on all resources also fires for the resources that lack a field',
  'eq-null': 'a stored field is compared with null, which is never true',
  'ambiguous-name': 'on all resources, `resource.name` is a field of some resources and the name of the others',
  'self-granted': 'a condition reads a value that the same users may write',
  'not-listed': 'a role may read or update records, but not list them',
  'many-conditions': 'the rule has five conditions or more',
  'related-index': 'a condition counts related records, and no index finds them by the fields of `on`',
  'in-memory': 'lists filter the records in memory, because the database cannot evaluate the condition',
  empty: 'the policy has no rules',
  unassigned: 'the policy is active but has no assignments',
  'assigned-inactive': 'the policy was assigned but is inactive',
  expired: 'assignments have expired',
  'expires-soon': 'assignments expire within seven days',
} as const;

/** The code of a finding. Clients may rely on it. */
export type FindingCode = keyof typeof DESCRIPTIONS;

/** Codes of findings that are often intended. */
const INFORMATIVE: ReadonlySet<FindingCode> = new Set<FindingCode>(['not-listed']);

/** The levels of findings: a `warning` is probably a mistake, an `info` is often intended. */
export const FINDING_LEVELS = ['warning', 'info'] as const;

/** Adds the level of its code to a finding. */
export function withLevel(finding: UnratedFinding): Finding {
  return { level: INFORMATIVE.has(finding.code) ? 'info' : 'warning', ...finding };
}

/** Every code with its description. */
export const FINDINGS: ReadonlyMap<FindingCode, string> = new Map(Object.entries(DESCRIPTIONS) as [FindingCode, string][]);

/** Sorts findings by the order of the codes. The order within a code does not change. */
export function sortFindings(findings: readonly Finding[]): readonly Finding[] {
  const codes = [...FINDINGS.keys()];
  return [...findings].sort((a, b) => codes.indexOf(a.code) - codes.indexOf(b.code));
}

/** The name of a rule in a finding. */
export interface NamedRule {
  readonly id: string;
  readonly description?: string | undefined;
}

/** One finding about a policy: the problem and what to do about it. */
export interface Finding extends UnratedFinding {
  readonly level: (typeof FINDING_LEVELS)[number];
}

/** A finding without its level, which depends on its code. */
export interface UnratedFinding {
  readonly code: FindingCode;
  readonly detail: string;
  readonly todo: string;
  readonly policy: Pick<Policy, 'id' | 'name'>;
  /** Absent if the finding is about the whole policy. */
  readonly rule?: NamedRule;
  /** Path of the member of the policy, such as `rules.0.conditions`. Absent if the finding is about assignments. */
  readonly path?: string;
  /** The other rule of a finding about two rules. */
  readonly other?: { readonly rule: NamedRule; readonly policy: Pick<Policy, 'id' | 'name'> };
  /** Ids of the first users whose assignments the finding is about. */
  readonly users?: readonly string[];
  /** The role whose assignment the finding is about. */
  readonly role?: string;
}

/** A finding about a rule, without the names of the rule and its policy, which `lint.ts` adds. */
export interface RuleFinding extends Pick<Finding, 'code' | 'detail' | 'todo' | 'other'> {
  /** Dotted path in the rule, such as `conditions`; empty for the whole rule. */
  readonly member: string;
}

/** Maximum number of names in a sentence. */
const NAMES_SHOWN = 5;

/** Joins the first five names and appends the number of the others. */
export function joinNames(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN;
  return `${names.slice(0, NAMES_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
