import { AUDIT_LOG_NAME } from '../../authz/policies/index.ts';
import {
  type Path,
  type RenamedConditions,
  renamePaths,
  type StoredRelatedPath,
  storedPaths,
  storedRelatedPaths,
} from '../../conditions/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { type Definitions, followedName } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import { isIntact } from '../checksums/row-checksums.ts';
import type { Transaction } from '../contract.ts';
import { storeVersion } from '../policies/policy-history.ts';
import { loadPolicy } from '../policies/policy-records.ts';
import { selectPolicyRows } from '../policies/policy-rows.ts';
import { sealRows } from '../policies/seal-tables.ts';
import type { DraftStep, RuleName, Step, StepKind } from './migration-plan.ts';
import type { TableRenames } from './table-renames.ts';

/** A stored rule with its name and the paths in its conditions. */
export interface StoredRule extends RuleName {
  readonly resource: string;
  readonly conditions: readonly JsonObject[];
  readonly paths: readonly Path[];
  readonly related: readonly StoredRelatedPath[];
}

/** Renames of tables by former name, and of fields by new resource name and former field name. */
export interface Renames {
  readonly tables: TableRenames;
  readonly fields: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** A rule after renames. */
export interface RewrittenRule extends Pick<RenamedConditions, 'conditions'> {
  readonly resource: string;
  readonly changed: boolean;
  /** True if the rule reads a renamed name in a place that cannot be rewritten, such as a CEL expression. */
  readonly breaks: boolean;
}

/**
 * Loads every rule of every policy, inactive ones included. Selects only columns that every version of the program has created, because
 * the tables of the system may not be migrated yet.
 */
export async function loadRules(tx: Transaction): Promise<readonly StoredRule[]> {
  const rows = await tx.all<RuleRow>(
    sql`SELECT r."id", r."policyId", p."name" AS "policy", r."position", r."description", r."resource", r."conditions"
      FROM "_PolicyRule" r JOIN "_Policy" p ON p."id" = r."policyId" ORDER BY p."name", r."position"`,
  );
  return rows.map(({ id, position, description, conditions, ...rule }) => {
    const written = parseWritten(conditions);
    const read = { paths: storedPaths(written), related: storedRelatedPaths(written) };
    return { ...rule, ruleId: id, rule: description ?? `rule ${position + 1}`, conditions: written, ...read };
  });
}

/** Parses the conditions of a rule. Those of a damaged rule count as none, so that it prevents no migration; its policy denies everything. */
function parseWritten(conditions: string | null): readonly JsonObject[] {
  try {
    return JSON.parse(conditions ?? '[]') as readonly JsonObject[];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
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

/** Returns the names of the rules for a resource, or, if `field` is given, of the rules whose conditions read the field. */
function findRulesAbout(
  rules: readonly StoredRule[],
  { resource, field }: Pick<Step, 'resource' | 'field'>,
  definitions: Definitions,
): readonly RuleName[] {
  const found = rules.filter((rule) =>
    field === undefined
      ? rule.resource === resource || rule.related.some((related) => related.resource === resource)
      : readPaths(rule).some(({ path, of }) =>
          mentionsOf(path, of, definitions).some((at) => at.resource === resource && path.keys[at.index] === field),
        ),
  );
  return found.map(({ policyId, policy, ruleId, rule }) => ({ policyId, policy, ruleId, rule }));
}

/** Returns the paths that a rule reads, each with the resource whose records have the fields of `resource`. */
function readPaths({ resource, paths, related }: StoredRule): readonly { readonly path: Path; readonly of: string }[] {
  return [
    ...paths.map((path) => ({ path, of: resource })),
    ...related.map(({ resource: of, keys }) => ({ path: { group: 'resource' as const, keys, text: '' }, of })),
  ];
}

/** Returns a rule with the new names of resources and fields. `before` contains the definitions that the rule was written for. */
function rewriteRule(rule: StoredRule, renames: Renames, before: Definitions): RewrittenRule {
  const { tables, fields } = renames;
  let isUnsure = false;
  const renamePath = (path: Path, related?: string): readonly string[] | undefined => {
    const keys = [...path.keys];
    for (const [index, names] of Map.groupBy(mentionsOf(path, related ?? rule.resource, before), (mention) => mention.index)) {
      const having = names.filter(({ resource }) => before.get(resource)?.fields.has(path.keys[index] ?? '') === true);
      const after = new Set(having.map(({ resource }) => fields.get(tables.get(resource) ?? resource)?.get(path.keys[index] ?? '')));
      const [name] = after;
      // A rule on all resources reads a field that only some of the resources rename.
      if (after.size > 1) isUnsure = true;
      else if (name !== undefined) keys[index] = name;
    }
    return keys.some((key, index) => key !== path.keys[index]) ? keys : undefined;
  };
  const renameResource = (name: string): string => tables.get(name) ?? name;
  const { conditions, changed, expressions } = renamePaths(rule.conditions, { renamePath, renameResource });
  const resource = tables.get(rule.resource) ?? rule.resource;
  return {
    conditions,
    resource,
    changed: changed || resource !== rule.resource,
    breaks: isUnsure || expressions.length > 0 || comparesName(rule, renames),
  };
}

interface Mention {
  readonly resource: string;
  /** The position, in the keys of the path, of the key that names a field of the resource. */
  readonly index: number;
}

/** Returns the resources whose fields a path names: `User` or the resources of the rule, and the resources that references lead to. */
function mentionsOf({ group, keys }: Path, ruleResource: string, definitions: Definitions): readonly Mention[] {
  const isData = group === 'request' && keys[0] === 'data';
  if (group === 'environment' || (group === 'request' && !isData)) return [];
  const index = isData ? 1 : 0;
  const about = ruleResource === '*' ? [...definitions.keys()] : [ruleResource];
  const bases = group === 'user' ? ['User'] : about;
  return bases.flatMap((base) => {
    const mentions: Mention[] = [{ resource: base, index }];
    let field = isData ? undefined : definitions.get(base)?.fields.get(keys[index] ?? '');
    for (let at = index + 1; at < keys.length && field !== undefined; at++) {
      const resource = followedName(field);
      if (resource === undefined) break;
      mentions.push({ resource, index: at });
      field = definitions.get(resource)?.fields.get(keys[at] ?? '');
    }
    return mentions;
  });
}

/**
 * Returns whether a rule may compare a former name: its conditions contain the name and read a path whose value can be such a name. On the
 * audit log, `resource.resource` is the name of a resource, and `resource.facts` contains names of fields.
 */
function comparesName({ resource, conditions, paths }: StoredRule, { tables, fields }: Renames): boolean {
  const text = JSON.stringify(conditions);
  const containsOf = (names: Iterable<string>): boolean => [...names].some((name) => text.includes(name));
  const isAudit = resource === AUDIT_LOG_NAME;
  const readsFacts = isAudit && paths.some(({ group, keys }) => group === 'resource' && keys[0] === 'facts');
  const named = ['resource.name', 'request.path', ...(isAudit ? ['resource.resource'] : [])];
  const readsName = readsFacts || paths.some((path) => named.includes(path.text));
  const formerFields = [...fields.values()].flatMap((names) => [...names.keys()]);
  return (readsName && containsOf(tables.keys())) || (readsFacts && containsOf(formerFields));
}

/** The stored rules, the planned renames of tables, and the definitions before and after the migration. */
export interface RuleContext {
  readonly rules: readonly StoredRule[];
  readonly tables: TableRenames;
  readonly before: Definitions;
  readonly wanted: Definitions;
}

/** The kinds of steps that can change the effect of a rule: they create, archive, restore or convert a table or column. */
const CHANGES_MEANING: ReadonlySet<StepKind> = new Set(['createTable', 'addColumn', 'keepAside', 'bringBack', 'convert']);

/** The maximum number of rules that the reason of a step names. The `rules` of the step contain all of them. */
const MAX_NAMED = 5;

/**
 * Adds to each step the rules that the step affects. A rename lists the rules that contain the former name, and needs confirmation if a
 * rule cannot be rewritten. A step that creates, archives, restores or converts a table or column lists the rules that read the table or
 * column, so that old permissions do not apply unnoticed.
 */
export function addRuleWarnings(steps: readonly DraftStep[], context: RuleContext): readonly DraftStep[] {
  if (context.rules.length === 0) return steps;
  return steps.map((step) => {
    if (step.from !== undefined) return addRewrittenRules(step, context);
    return CHANGES_MEANING.has(step.kind) ? addReadingRules(step, context) : step;
  });
}

function addReadingRules(step: DraftStep, { rules, tables, before, wanted }: RuleContext): DraftStep {
  const renamed = rules.map((rule) => ({ ...rule, resource: tables.get(rule.resource) ?? rule.resource }));
  const found = findRulesAbout(renamed, step, new Map([...before, ...wanted]));
  if (found.length === 0) return step;
  return { ...step, rules: found, reason: `${step.reason}; read by ${describeRules(found)}` };
}

function addRewrittenRules(step: DraftStep, { rules, tables, before }: RuleContext): DraftStep {
  const renames = toRenames(step, tables);
  const results = rules.map((rule) => ({ rule, ...rewriteRule(rule, renames, before) }));
  const rewritten = results.filter(({ changed, breaks }) => changed && !breaks).map(({ rule }) => toRuleName(rule));
  const broken = results.filter(({ breaks }) => breaks).map(({ rule }) => toRuleName(rule));
  const sentences = [step.reason];
  if (rewritten.length > 0) sentences.push(`${describeRules(rewritten)} ${rewritten.length === 1 ? 'is' : 'are'} rewritten`);
  if (broken.length > 0)
    sentences.push(`${describeRules(broken)} would break: the name cannot be rewritten there and must be changed by hand`);
  const found = [...rewritten, ...broken];
  return {
    ...step,
    reason: sentences.join('; '),
    ...(found.length > 0 && { rules: found }),
    ...(broken.length > 0 && { risk: 'lossy', rows: 0 }),
  };
}

/** Returns the rename of one step. A field is listed under the former name of its resource, because stored rules contain that name. */
function toRenames({ resource, field, from = '' }: DraftStep, tables: TableRenames): Renames {
  if (field === undefined) return { tables: new Map([[from, resource]]), fields: new Map() };
  const nameBefore = [...tables].find(([, to]) => to === resource)?.[0] ?? resource;
  return { tables: new Map(), fields: new Map([[nameBefore, new Map([[from, field]])]]) };
}

function toRuleName({ policyId, policy, ruleId, rule }: RuleName): RuleName {
  return { policyId, policy, ruleId, rule };
}

/** The name of a rule without a description. */
const POSITION = /^rule \d+$/;

function describeRules(rules: readonly RuleName[]): string {
  const named = rules
    .slice(0, MAX_NAMED)
    .map(({ policy, rule }) => `${POSITION.test(rule) ? rule : `rule ${JSON.stringify(rule)}`} of policy ${JSON.stringify(policy)}`);
  const more = rules.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}

/** The author of the policy versions that a migration creates. Stored data contain this name. */
const AUTHOR = 'evolution';

/** The renames that a migration applies to the stored policies. */
export interface PolicyRewrite {
  readonly renames: Renames;
  readonly before: Definitions;
  /** The revision that the migration begins. */
  readonly revision: number;
}

/**
 * Rewrites every rule that contains a renamed name, and saves a new version of each changed policy. A damaged policy stays as it is, because
 * a new checksum would cover its damage.
 */
export async function rewritePolicies(tx: Transaction, { renames, before, revision }: PolicyRewrite): Promise<void> {
  const rules = (await loadRules(tx)).map((rule) => ({ rule, rewritten: rewriteRule(rule, renames, before) }));
  const changed = await findIntact(tx, new Set(rules.flatMap(({ rule, rewritten }) => (rewritten.changed ? [rule.policyId] : []))));
  for (const { rule, rewritten } of rules) {
    if (!rewritten.changed || !changed.has(rule.policyId)) continue;
    const conditions = JSON.stringify(rewritten.conditions);
    await tx.run(
      sql`UPDATE "_PolicyRule" SET "resource" = ${rewritten.resource}, "conditions" = ${conditions} WHERE "id" = ${rule.ruleId}`,
    );
  }
  for (const id of changed) {
    await tx.run(sql`UPDATE "_Policy" SET "updatedAt" = ${new Date(tx.now).toISOString()}, "version" = ${revision} WHERE "id" = ${id}`);
    await sealRows(tx, await selectPolicyRows(tx, sql`"id" = ${id}`));
    await storeVersion(tx, { kind: 'policy', id, policyId: id, value: await loadPolicy(tx, id), revision, by: AUTHOR });
  }
}

async function findIntact(tx: Transaction, ids: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const intact = new Set<string>();
  for (const id of ids) if ((await selectPolicyRows(tx, sql`"id" = ${id}`)).every(isIntact)) intact.add(id);
  return intact;
}
