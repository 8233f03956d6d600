/**
 * Replaces conditions on related records in the condition of a list by comparisons with the values that link them: `resource.organisationId in
 * ["o1", "o2"]` instead of a search of memberships for each record. The database then uses an index of the listed records.
 */
import { type Json, type Truth, UNKNOWN } from '../operators/index.ts';
import {
  all,
  any,
  type Comparison,
  type Condition,
  constant,
  NEVER,
  not,
  type Path,
  type Related,
  type RelatedLink,
  type RelatedRecord,
  type Scope,
} from './condition.ts';
import { conditionPaths, relatedIn } from './condition-paths.ts';
import { toPartialEvaluator } from './partial-evaluation.ts';
import { createRecordEvaluator } from './related-evaluation.ts';

/** Options of `replaceRelated`. */
export interface ReplaceOptions {
  /** The scope of the list. Its record is UNRESOLVED. */
  readonly scope: Scope;
  /** Maximum related records that are read for one condition. With more, the condition stays. */
  readonly maxRecords: number;
  /** Returns true if an index finds the records of a resource by the values of these fields. */
  isIndexed(resource: string, fields: readonly string[]): boolean;
  /** Returns true if the statement of the list finds the related records of all rows with one search: the condition then stays. */
  isInStatement?(related: Related): boolean;
}

/** Maximum conditions of one list that are replaced. */
const MAX_REPLACED = 10;
/** Maximum values of all comparisons that replace conditions: an SQL statement has a limit on its values. */
const MAX_VALUES = 4000;

interface Replacing {
  readonly options: ReplaceOptions;
  conditions: number;
  values: number;
}

/**
 * Returns the condition with comparisons in place of the conditions on related records that the caller alone determines, except for fields that
 * equal text fields of the listed record. The three-valued result is the same for each record. Other conditions stay: those whose `where` reads the
 * listed record or counts further records, and those on records of the listed resource, because a record is not related to itself.
 */
export function replaceRelated(condition: Condition, options: ReplaceOptions): Condition {
  const count = relatedIn(condition).length;
  if (count === 0) return condition;
  const replaced = replaceIn(condition, { options, conditions: 0, values: 0 });
  return relatedIn(replaced).length < count ? replaced : condition;
}

function replaceIn(condition: Condition, replacing: Replacing): Condition {
  switch (condition.type) {
    case 'all':
      return all(condition.of.map((part) => replaceIn(part, replacing)));
    case 'any':
      return any(condition.of.map((part) => replaceIn(part, replacing)));
    case 'not':
      return not(replaceIn(condition.of, replacing));
    case 'related':
      return replaceOne(condition, replacing) ?? condition;
    default:
      return condition;
  }
}

/** A link to a value of the caller. */
type KnownLink = RelatedLink & { readonly operand: { readonly type: 'literal' } };
/** A link to a field of the listed record. */
type OpenLink = RelatedLink & { readonly operand: { readonly type: 'reference' } };

function replaceOne(related: Related, replacing: Replacing): Condition | undefined {
  const { scope, maxRecords, isIndexed } = replacing.options;
  const known = related.on.filter((link): link is KnownLink => link.operand.type === 'literal');
  const open = related.on.filter((link): link is OpenLink => link.operand.type === 'reference');
  const isReplaceable = known.length > 0 && open.length > 0 && open.every((link) => linksTexts(link, related, scope));
  if (!isReplaceable || readsRecord(related) || replacing.conditions === MAX_REPLACED) return undefined;
  const fields = known.map(({ path }) => path.keys[1] ?? '');
  if (!isIndexed(related.resource, fields) || replacing.options.isInStatement?.(related) === true) return undefined;
  replacing.conditions++;
  // The open links belong to `where`, because their fields are read too.
  const where = all([related.where, ...open.map(({ path }) => compare(path, 'exists', true))]);
  const ofCaller: Related = { ...related, on: known, where, limit: maxRecords };
  const values = known.map(({ operand }) => operand.value);
  const found = scope.related?.find(ofCaller, values);
  const groups = typeof found === 'object' ? groupByLinks(found, open) : undefined;
  if (groups === undefined || replacing.values + groups.length * open.length > MAX_VALUES) return undefined;
  replacing.values += groups.length * open.length;
  return toComparisons(related, { open, groups, scope });
}

/** Returns true if both sides of a link are texts, which are equal in memory exactly if they are equal in a database. */
function linksTexts({ path, operand }: OpenLink, { resource }: Related, scope: Scope): boolean {
  const isText = operand.path.group === 'resource' && scope.kindOf(operand.path)?.kind === 'text';
  return isText && scope.related?.kindOf(resource, path.keys.slice(1))?.kind === 'text';
}

function readsRecord({ where }: Related): boolean {
  return relatedIn(where).length > 0 || conditionPaths(where).some(({ group }) => group === 'resource');
}

/** The related records with the same values of the open links. */
interface Group {
  /** The values in the order of the links. */
  readonly values: readonly string[];
  readonly records: RelatedRecord[];
}

/** Groups records by the values that link them. A record without one of the values is not related. Returns undefined if a value is not a text. */
function groupByLinks(records: readonly RelatedRecord[], open: readonly OpenLink[]): readonly Group[] | undefined {
  const groups = new Map<string, Group>();
  const keys = open.map(({ path }) => path.keys.slice(1));
  for (const record of records) {
    const values = keys.map((each) => record.valueOf(each));
    if (values.includes(undefined)) continue;
    const texts = values.filter((value) => typeof value === 'string');
    if (texts.length < values.length) return undefined;
    const key = texts.length === 1 ? (texts[0] ?? '') : JSON.stringify(texts);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { values: texts, records: [record] });
    else group.records.push(record);
  }
  return [...groups.values()];
}

/** The links of a condition to the listed record, and its related records. */
interface GroupedRecords {
  readonly open: readonly OpenLink[];
  readonly groups: readonly Group[];
  readonly scope: Scope;
}

/**
 * Returns the comparisons. The condition has one result for most values, that of no related records, and another one for some values. It is
 * unknown without a value.
 */
function toComparisons(related: Related, { open, groups, scope }: GroupedRecords): Condition | undefined {
  const where = toPartialEvaluator(related.where);
  const evaluateRecords = createRecordEvaluator(related, { where, scope });
  const usual = evaluateRecords([]);
  const different = new Map<Truth, (readonly string[])[]>([
    [UNKNOWN, []],
    [usual !== true, []],
  ]);
  for (const { values, records } of groups) {
    const truth = records.length > related.limit ? UNKNOWN : evaluateRecords(records);
    if (truth === undefined) return undefined;
    different.get(truth)?.push(values);
  }
  const paths = open.map(({ operand }) => operand.path);
  const isUnknown = matchAny(paths, different.get(UNKNOWN) ?? []);
  const isMissing = not(all(paths.map((path) => compare(path, 'exists', true))));
  const unknown = all([any([isUnknown, isMissing]), constant(UNKNOWN)]);
  const unusual = matchAny(paths, different.get(usual !== true) ?? []);
  return usual === true ? not(any([unusual, unknown])) : any([unusual, unknown]);
}

/** Returns the condition that the fields of the listed record have the values of one of the groups. */
function matchAny(paths: readonly Path[], groups: readonly (readonly string[])[]): Condition {
  const [path] = paths;
  if (groups.length === 0 || path === undefined) return NEVER;
  if (paths.length === 1) return compare(path, 'in', groups.flat());
  return any(groups.map((values) => all(paths.map((each, index) => compare(each, 'eq', values[index] ?? null)))));
}

function compare(path: Path, operator: string, value: Json): Comparison {
  return { type: 'comparison', path, operator, operand: { type: 'literal', value }, ifExists: false };
}
