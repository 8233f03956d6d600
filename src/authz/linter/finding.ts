import type { Policy } from '../policies/index.ts';

/** Codes in the order of warnings: first the findings about rules that have no effect. */
const about = {
  'attribute-nobody-has': 'a condition reads an attribute that no active user has',
  'never-equal': 'a condition compares with a value that its field never has',
  'never-holds': 'no value matches all conditions on a field',
  'foreign-reference': 'a value looks like a reference of another product and is compared as text',
  'unknown-resource': 'no definition names its resource',
  'always-unknown': 'the definitions have changed, and a condition can only be unknown',
  'never-fires': 'rules without conditions go before it wherever it applies, and have another effect',
  redundant: 'rules without conditions and of the same effect go before it wherever it applies',
  duplicate: 'another rule says the same',
  conflict: 'a rule of the other effect has the same priorities: where both fire, the DENY goes first',
  'unknown-role': 'no user can have the role that it is assigned to',
  'fires-on-missing': 'a DENY that fires also where a value is missing',
  closes: 'a DENY on all resources that denies those entirely which lack a field',
  'eq-null': 'a stored field is compared with null, which it never is',
  'ambiguous-name': 'on all resources, `resource.name` is a field here and the name of the resource there',
  'many-conditions': 'five conditions or more',
  'in-memory': 'lists by it are evaluated record by record: the database cannot say its condition',
  empty: 'no rules',
  unassigned: 'active, and assigned to nobody',
  'assigned-inactive': 'just assigned, and not active',
  expired: 'assignments that have expired',
  'expires-soon': 'assignments that expire within seven days',
} as const;

/** What an advice is about, in one word that programs can rely on. */
export type FindingCode = keyof typeof about;

/** Every code, and what it says of a rule or policy. */
export const FINDINGS: ReadonlyMap<FindingCode, string> = new Map(Object.entries(about) as [FindingCode, string][]);

/** Advice in the order of the table of codes; of one code, in the order of the policy. */
export function sortFindings(advice: readonly Finding[]): readonly Finding[] {
  const codes = [...FINDINGS.keys()];
  return [...advice].sort((a, b) => codes.indexOf(a.code) - codes.indexOf(b.code));
}

/** A rule as advice names it. */
export interface NamedRule {
  readonly id: string;
  readonly description?: string | undefined;
}

/** One thing to know about a policy, and what to do about it. */
export interface Finding {
  readonly code: FindingCode;
  readonly detail: string;
  readonly todo: string;
  readonly policy: Pick<Policy, 'id' | 'name'>;
  /** Absent where it is about the policy as a whole. */
  readonly rule?: NamedRule;
  /** The member of the policy that it is about: `rules.0.conditions`. Absent where it is about assignments. */
  readonly path?: string;
  /** The rule beside which this one is remarkable. */
  readonly other?: { readonly rule: NamedRule; readonly policy: Pick<Policy, 'id' | 'name'> };
  /** Ids of the first users whose assignments it is about. */
  readonly users?: readonly string[];
  /** The role whose assignment it is about. */
  readonly role?: string;
}

/** Advice on a rule, as those who find it say it: `advise.ts` adds which rule of which policy it is. */
export interface RuleFinding extends Pick<Finding, 'code' | 'detail' | 'todo' | 'other'> {
  /** Of the rule, dotted: `conditions`; empty for the rule as a whole. */
  readonly member: string;
}

/** Names shown in one sentence. */
const NAMES_SHOWN = 5;

/** The first few of some names in one line. */
export function joinNames(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN;
  return `${names.slice(0, NAMES_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
