import { isRecord } from '../../components/condition/condition-json.ts';
import { type PreviewSearch, validatePreviewSearch } from '../../components/preview/preview-search.ts';
import type { Assignee } from './policy-draft.ts';

/** The tabs of a policy. */
export const POLICY_TABS = ['rules', 'text', 'preview', 'assignments', 'history', 'findings'] as const;

/** The tabs of a policy that is not stored yet. */
export const NEW_POLICY_TABS = ['rules', 'text', 'preview'] as const;

/** The state of the screen of a policy in the URL. */
export interface PolicySearch extends PreviewSearch {
  readonly tab?: (typeof POLICY_TABS)[number];
  /** The path of the member to show, such as `rules.0.conditions.1`. */
  readonly at?: string;
  /** The id of the rule to show. */
  readonly rule?: string;
  /** True to open the dialog that assigns the policy. */
  readonly assign?: true;
  /** True to compare the previous revision with the current one in the history. */
  readonly compare?: true;
  /** The id of the template of a new policy. */
  readonly template?: string;
  /** The role or user that a new policy is assumed to be assigned to: `role:` and a role, or `user:` and an id. */
  readonly assumed?: string;
}

/** Reads the state of the screen from the search parameters of the URL. */
export function validatePolicySearch(given: Readonly<Record<string, unknown>>): PolicySearch {
  const { tab, at, rule, assign, compare, template, assumed } = given;
  const known = POLICY_TABS.find((each) => each === tab);
  return {
    ...(known !== undefined && { tab: known }),
    ...(typeof at === 'string' && { at }),
    ...(typeof rule === 'string' && { rule }),
    ...(known === 'assignments' && assign === true && { assign }),
    ...(known === 'history' && compare === true && { compare }),
    ...(typeof template === 'string' && { template }),
    ...(typeof assumed === 'string' && parseAssignee(assumed) !== undefined && { assumed }),
    ...(known === 'preview' && validatePreviewSearch(given)),
  };
}

/** Reads `role:editor` or `user:` and an id; undefined for other texts. */
export function parseAssignee(text = ''): Assignee | undefined {
  const [, kind, id = ''] = /^(role|user):(.+)$/.exec(text) ?? [];
  if (kind === undefined) return undefined;
  return kind === 'role' ? { role: id as NonNullable<Assignee['role']> } : { userId: id };
}

/** Returns the index of the rule in the path of a member; undefined for other members. */
export function ruleIndexIn(path: string | undefined): number | undefined {
  const match = /^rules\.(\d+)/.exec(path ?? '');
  return match === null ? undefined : Number(match[1]);
}

/** Returns the path of the member that the URL names, by its path or by the id of a rule; undefined if it names none. */
export function memberPathOf({ at, rule }: Pick<PolicySearch, 'at' | 'rule'>, rules: readonly unknown[] = []): string | undefined {
  if (at !== undefined || rule === undefined) return at;
  const index = rules.findIndex((each) => isRecord(each) && each['id'] === rule);
  return index === -1 ? undefined : `rules.${index}`;
}
