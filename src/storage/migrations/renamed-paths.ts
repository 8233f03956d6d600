import { type Path, type RenamedConditions, renamePaths, storedPaths } from '../../conditions/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import type { RuleName, Step } from './migration-plan.ts';
import type { TableRenames } from './table-renames.ts';

/** A rule as stored, with what it takes to name it. */
export interface StoredRule extends RuleName {
  readonly resource: string;
  readonly conditions: readonly JsonObject[];
  readonly paths: readonly Path[];
}

/** What is renamed: tables by name, fields by resource (as it is called after) and name. */
export interface Renames {
  readonly tables: TableRenames;
  readonly fields: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** What becomes of a rule. */
export interface RewrittenRule extends Pick<RenamedConditions, 'conditions'> {
  readonly resource: string;
  readonly changed: boolean;
  /** Whether something in it means what is renamed, and cannot be said anew without a person. */
  readonly breaks: boolean;
}

/**
 * Every rule of every policy, active or not. By columns that were always there: the program's own tables may be about to
 * get others.
 */
export async function loadRules(tx: Transaction): Promise<readonly StoredRule[]> {
  const rows = await tx.all<RuleRow>(
    sql`SELECT r."id", r."policyId", p."name" AS "policy", r."position", r."description", r."resource", r."conditions"
      FROM "_PolicyRule" r JOIN "_Policy" p ON p."id" = r."policyId" ORDER BY p."name", r."position"`,
  );
  return rows.map(({ id, position, description, conditions, ...rule }) => {
    const written = JSON.parse(conditions ?? '[]') as readonly JsonObject[];
    return { ...rule, ruleId: id, rule: description ?? `rule ${position + 1}`, conditions: written, paths: storedPaths(written) };
  });
}

interface RuleRow {
  readonly id: string;
  readonly policyId: string;
  readonly policy: string;
  readonly position: number;
  readonly description: string | null;
  readonly resource: string;
  readonly conditions: string | null;
}

/** The rules that are about a resource as a whole, or read one of its fields. */
export function findRulesAbout(
  rules: readonly StoredRule[],
  { resource, field }: Pick<Step, 'resource' | 'field'>,
  definitions: Definitions,
): readonly RuleName[] {
  const found = rules.filter((rule) =>
    field === undefined
      ? rule.resource === resource
      : rule.paths.some((path) =>
          mentionsOf(path, rule.resource, definitions).some((at) => at.resource === resource && path.keys[at.index] === field),
        ),
  );
  return found.map(({ policyId, policy, ruleId, rule }) => ({ policyId, policy, ruleId, rule }));
}

/** A rule under the new names. `before` are the definitions under which it was written. */
export function rewriteRule(rule: StoredRule, { tables, fields }: Renames, before: Definitions): RewrittenRule {
  let isUnsure = false;
  const { conditions, changed, expressions } = renamePaths(rule.conditions, (path) => {
    const keys = [...path.keys];
    for (const [index, names] of Map.groupBy(mentionsOf(path, rule.resource, before), (mention) => mention.index)) {
      const having = names.filter(({ resource }) => before.get(resource)?.fields.has(path.keys[index] ?? '') === true);
      const after = new Set(having.map(({ resource }) => fields.get(tables.get(resource) ?? resource)?.get(path.keys[index] ?? '')));
      const [name] = after;
      // A rule on all resources that names a field which only some of them rename.
      if (after.size > 1) isUnsure = true;
      else if (name !== undefined) keys[index] = name;
    }
    return keys.some((key, index) => key !== path.keys[index]) ? keys : undefined;
  });
  const resource = tables.get(rule.resource) ?? rule.resource;
  return {
    conditions,
    resource,
    changed: changed || resource !== rule.resource,
    breaks: isUnsure || expressions.length > 0 || saysName(rule, tables),
  };
}

interface Mention {
  readonly resource: string;
  /** The key that names one of its fields. */
  readonly index: number;
}

/** The resources of which a path names a field: those that the rule is about, and the one that a reference leads to. */
function mentionsOf({ group, keys }: Path, ruleResource: string, definitions: Definitions): readonly Mention[] {
  const isData = group === 'request' && keys[0] === 'data';
  if (group === 'environment' || (group === 'request' && !isData)) return [];
  const index = isData ? 1 : 0;
  const about = ruleResource === '*' ? [...definitions.keys()] : [ruleResource];
  const bases = group === 'user' ? ['User'] : about;
  return bases.flatMap((resource) => {
    const to = isData ? undefined : definitions.get(resource)?.fields.get(keys[index] ?? '')?.to;
    return [{ resource, index }, ...(to === undefined || keys.length <= index + 1 ? [] : [{ resource: to, index: index + 1 }])];
  });
}

/** `resource.name`, where no field is called so, and the request's path hold the name of the resource itself. */
function saysName({ conditions, paths }: StoredRule, tables: TableRenames): boolean {
  if (!paths.some(({ text }) => text === 'resource.name' || text === 'request.path')) return false;
  const text = JSON.stringify(conditions);
  return [...tables.keys()].some((name) => text.includes(name));
}
