import { isObject, type Json, type JsonObject } from '../operators/index.ts';
import { isGroup, parsePath } from './attribute-path.ts';
import { CONTEXT_GROUPS, conditionPaths, type Path } from './condition.ts';
import type { ConditionLimits } from './condition-parser.ts';
import { parseConditions } from './parse-condition.ts';

/** Returns the new keys of a renamed path; undefined if the path keeps its name. */
export type RenamePath = (path: Path) => readonly string[] | undefined;

/** Conditions with renamed paths. */
export interface RenamedConditions {
  /** The conditions, unchanged except for the paths. */
  readonly conditions: readonly JsonObject[];
  readonly changed: boolean;
  /** Expressions that read a renamed path. Their text is not changed. */
  readonly expressions: readonly string[];
}

/** Stored conditions were valid when they were written; the current limits do not apply to them. */
const NO_LIMITS: ConditionLimits = Object.freeze({
  depth: 1000,
  references: 1000,
  comparisons: 100_000,
  listItems: 1_000_000,
  textLength: 10_000_000,
  expressionLength: 1_000_000,
  expressionDepth: 1000,
});

/** Returns every path that stored conditions and their expressions read. Does not consult definitions. */
export function storedPaths(conditions: readonly JsonObject[]): readonly Path[] {
  return conditionPaths(parseConditions(conditions, { at: '', expressions: true, limits: NO_LIMITS }).condition);
}

/**
 * Renames paths in `field` members and in `${…}` of values, also inside groups. Expressions are not changed, because a name in their text
 * may have another meaning, such as a loop variable; the result lists the expressions that read a renamed path.
 */
export function renamePaths(conditions: readonly JsonObject[], rename: RenamePath): RenamedConditions {
  const expressions: string[] = [];
  const renamed = conditions.map((condition) => renameCondition(condition, { rename, expressions })) as readonly JsonObject[];
  return { conditions: renamed, changed: JSON.stringify(renamed) !== JSON.stringify(conditions), expressions };
}

interface Renaming {
  readonly rename: RenamePath;
  readonly expressions: string[];
}

function renameCondition(condition: Json, renaming: Renaming): Json {
  if (!isObject(condition)) return condition;
  const { expression } = condition;
  if (typeof expression === 'string') {
    if (storedPaths([{ expression }]).some((path) => renaming.rename(path) !== undefined)) renaming.expressions.push(expression);
    return condition;
  }
  return Object.fromEntries(Object.entries(condition).map(([name, value]) => [name, renameMember(name, value, { condition, renaming })]));
}

function renameMember(name: string, value: Json, { condition, renaming }: { condition: JsonObject; renaming: Renaming }): Json {
  if (name === 'not') return renameCondition(value, renaming);
  if ((name === 'anyOf' || name === 'allOf') && Array.isArray(value)) return value.map((each: Json) => renameCondition(each, renaming));
  if (name === 'value') return renameValue(value, renaming.rename);
  return name === 'field' && typeof value === 'string' ? renameField(value, condition['context'], renaming.rename) : value;
}

/** Renames the path in a text. The result begins with a group only if the text does. */
function renameField(text: string, context: Json | undefined, rename: RenamePath): string {
  const group = CONTEXT_GROUPS.find((each) => each === context);
  const parsed = parsePath(text, group);
  const keys = 'path' in parsed ? rename(parsed.path) : undefined;
  if (keys === undefined || !('path' in parsed)) return text;
  return isGroup(text.split('.', 1)[0] ?? '') ? [parsed.path.group, ...keys].join('.') : keys.join('.');
}

function renameValue(value: Json, rename: RenamePath): Json {
  if (Array.isArray(value)) return value.map((item: Json) => renameValue(item, rename));
  if (typeof value !== 'string') return value;
  return value.replaceAll(/\$\{([^${}]*)\}/g, (written, path: string) => {
    const renamed = renameField(path, undefined, rename);
    return renamed === path ? written : `\${${renamed}}`;
  });
}
