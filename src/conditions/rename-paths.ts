import { isObject, type Json, type JsonObject } from '../operators/index.ts';
import { isGroup, parsePath } from './attribute-path.ts';
import { CONTEXT_GROUPS, type Condition, type Path } from './condition.ts';
import type { ConditionLimits } from './condition-parser.ts';
import { conditionPaths, relatedIn, relatedPaths } from './condition-paths.ts';
import { parseConditions } from './parse-condition.ts';

/** The new names of paths and resources. */
export interface PathNames {
  /**
   * Returns the new keys of a renamed path; undefined if the path keeps its name. A path of a related record is given as a path of `resource`, with
   * the name of the related resource.
   */
  renamePath(path: Path, related?: string): readonly string[] | undefined;
  /** Returns the name of a related resource. */
  renameResource(name: string): string;
}

/** The path of a field of related records: the name of their resource, and the keys after the alias. */
export interface StoredRelatedPath {
  readonly resource: string;
  readonly keys: readonly string[];
}

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
  relatedRecords: 1_000_000,
});

/** Returns every path that stored conditions and their expressions read. Does not consult definitions. */
export function storedPaths(conditions: readonly JsonObject[]): readonly Path[] {
  return conditionPaths(storedCondition(conditions));
}

/** Returns every path of related records that stored conditions read. */
export function storedRelatedPaths(conditions: readonly JsonObject[]): readonly StoredRelatedPath[] {
  return relatedIn(storedCondition(conditions)).flatMap((related) =>
    relatedPaths(related).map((keys) => ({ resource: related.resource, keys })),
  );
}

/** Returns the condition tree of stored conditions and their expressions. Does not consult definitions. */
export function storedCondition(conditions: readonly JsonObject[]): Condition {
  return parseConditions(conditions, { at: '', expressions: true, limits: NO_LIMITS }).condition;
}

/**
 * Renames paths in `field` members and in `${…}` of values, also inside groups. Expressions are not changed, because a name in their text
 * may have another meaning, such as a loop variable; the result lists the expressions that read a renamed path.
 */
export function renamePaths(conditions: readonly JsonObject[], names: PathNames): RenamedConditions {
  const expressions: string[] = [];
  const renaming: Renaming = { names, expressions, related: new Map() };
  const renamed = conditions.map((condition) => renameCondition(condition, renaming)) as readonly JsonObject[];
  return { conditions: renamed, changed: JSON.stringify(renamed) !== JSON.stringify(conditions), expressions };
}

interface Renaming {
  readonly names: PathNames;
  readonly expressions: string[];
  /** The names of the related resources by alias. */
  readonly related: ReadonlyMap<string, string>;
}

function renameCondition(condition: Json, renaming: Renaming): Json {
  if (!isObject(condition)) return condition;
  const { expression } = condition;
  if (typeof expression === 'string') {
    if (readsRenamed(expression, renaming.names)) renaming.expressions.push(expression);
    return condition;
  }
  return Object.fromEntries(Object.entries(condition).map(([name, value]) => [name, renameMember(name, value, { condition, renaming })]));
}

function readsRenamed(expression: string, { renamePath, renameResource }: PathNames): boolean {
  if (storedPaths([{ expression }]).some((path) => renamePath(path) !== undefined)) return true;
  return storedRelatedPaths([{ expression }]).some(({ resource, keys }) => {
    const path: Path = { group: 'resource', keys, text: `resource.${keys.join('.')}` };
    return renameResource(resource) !== resource || renamePath(path, resource) !== undefined;
  });
}

function renameMember(name: string, value: Json, { condition, renaming }: { condition: JsonObject; renaming: Renaming }): Json {
  if (name === 'not') return renameCondition(value, renaming);
  if (name === 'related' && isObject(value)) return renameRelated(value, renaming);
  if ((name === 'anyOf' || name === 'allOf') && Array.isArray(value)) return value.map((each: Json) => renameCondition(each, renaming));
  if (name === 'value') return renameValue(value, renaming);
  return name === 'field' && typeof value === 'string' ? renameField(value, condition['context'], renaming) : value;
}

/** Renames the related resource, its linking fields, and the paths in `on` and `where`. */
function renameRelated(related: JsonObject, outer: Renaming): JsonObject {
  const { resource, as } = related;
  const name = String(resource);
  const renaming: Renaming = { ...outer, related: new Map([...outer.related, [String(as), name]]) };
  const renameLink = ([field, value]: [string, Json]): [string, Json] => {
    const path: Path = { group: 'resource', keys: [field], text: `resource.${field}` };
    return [outer.names.renamePath(path, name)?.join('.') ?? field, renameValue(value, outer)];
  };
  const renamed = Object.entries(related).map(([member, value]): [string, Json] => {
    if (member === 'resource' && typeof value === 'string') return [member, outer.names.renameResource(value)];
    if (member === 'on' && isObject(value)) return [member, Object.fromEntries(Object.entries(value).map(renameLink))];
    if (member === 'where' && Array.isArray(value)) return [member, value.map((each: Json) => renameCondition(each, renaming))];
    return [member, value];
  });
  return Object.fromEntries(renamed);
}

/** Renames the path in a text. The result begins with a group only if the text does. */
function renameField(text: string, context: Json | undefined, { names, related }: Renaming): string {
  const group = CONTEXT_GROUPS.find((each) => each === context);
  const parsed = parsePath(text, { context: group, aliases: [...related.keys()] });
  if (!('path' in parsed)) return text;
  const { path } = parsed;
  const [alias = '', ...inner] = path.keys;
  if (path.group === 'related') {
    const ofRecord: Path = { group: 'resource', keys: inner, text: `resource.${inner.join('.')}` };
    const renamed = names.renamePath(ofRecord, related.get(alias));
    return renamed === undefined ? text : [alias, ...renamed].join('.');
  }
  const keys = names.renamePath(path);
  if (keys === undefined) return text;
  return isGroup(text.split('.', 1)[0] ?? '') ? [path.group, ...keys].join('.') : keys.join('.');
}

function renameValue(value: Json, renaming: Renaming): Json {
  if (Array.isArray(value)) return value.map((item: Json) => renameValue(item, renaming));
  if (typeof value !== 'string') return value;
  return value.replaceAll(/\$\{([^${}]*)\}/g, (written, path: string) => {
    const renamed = renameField(path, undefined, renaming);
    return renamed === path ? written : `\${${renamed}}`;
  });
}
