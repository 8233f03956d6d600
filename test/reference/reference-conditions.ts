/**
 * Evaluates the conditions of a rule as `docs/guides/policies.md` describes them: without a condition tree, compilation
 * or partial evaluation, and with nothing from `src/` but types.
 */
import type { Json, JsonObject, Kind, Truth } from '../../src/operators/index.ts';
import type { Facts, RelatedFacts } from './reference-facts.ts';
import { all, any, MEANINGS, type Meaning, not, truthsOf } from './reference-operators.ts';
import { onlyPath, parsePath, pathsIn } from './reference-paths.ts';

/** Evaluates a condition to true, false or unknown (null). */
export function truthOf(condition: JsonObject, facts: Facts): Truth {
  const { anyOf, allOf, not: negated, expression, related } = condition;
  if (related !== undefined) {
    const truth = truthOfRelated(related as JsonObject, facts);
    facts.onRelated?.(truth === null ? 'unknown' : truth ? 'true' : 'false');
    return truth;
  }
  if (Array.isArray(anyOf)) return any(truthsOf(anyOf, (one) => truthOf(one, facts)));
  if (Array.isArray(allOf)) return all(truthsOf(allOf, (one) => truthOf(one, facts)));
  if (negated !== undefined) return not(truthOf(negated as JsonObject, facts));
  if (typeof expression === 'string') return truthOfExpression(expression, facts);
  return truthOfSome(condition, facts);
}

/** Makes a comparison for each item of the first list of references that one of its paths follows, and holds if it holds for some item. */
function truthOfSome(condition: JsonObject, facts: Facts): Truth {
  const { related } = facts;
  const list = related && firstList(condition, facts);
  if (list === undefined || related === undefined)
    return condition['operator'] === 'within' ? truthOfWithin(condition, facts) : truthOfComparison(condition, facts);
  const value = valueAt(list.path, facts);
  const items: readonly (Json | undefined)[] = Array.isArray(value) ? value : [undefined];
  if (items.length > related.limit) return null;
  const chosen = new Set([...(facts.chosen ?? []), list.path]);
  return any(truthsOf(items, (item) => truthOfSome(condition, { ...facts, chosen, ...withItem(list, item, facts) })));
}

/** A list of references that a path follows, and the resource of its records. */
interface FollowedList {
  readonly path: string;
  readonly resource: string;
}

/** The records that references lead to, by path. */
type Referenced = Facts['referenced'];

/** The records behind references if a list has one item, by path and item: the same for all conditions on the records. */
const chosenItems = new WeakMap<Referenced, Map<string, Referenced>>();

/** Returns what the references lead to if the list has one item. An item without a record leaves nothing behind its list. */
function withItem(list: FollowedList, item: Json | undefined, facts: Facts): Pick<Facts, 'reached' | 'referenced'> {
  const { related, referenced, reached = {} } = facts;
  const { group, rest } = parsePath(list.path);
  const ofAlias = reached[group];
  const at = ofAlias === undefined ? list.path : rest;
  const from = ofAlias ?? referenced;
  const record = typeof item === 'string' ? related?.recordOf(list.resource, item) : undefined;
  const known = chosenItems.get(from) ?? new Map<string, Referenced>();
  chosenItems.set(from, known);
  const key = `${at} ${record === undefined ? '' : item}`;
  const found = known.get(key) ?? chooseItem(from, { at, record, below: record && related?.referencedOf(list.resource, record) });
  known.set(key, found);
  return ofAlias === undefined ? { reached, referenced: found } : { reached: { ...reached, [group]: found }, referenced };
}

/** The record of an item, and the records behind it. */
interface ChosenItem {
  readonly at: string;
  readonly record: JsonObject | undefined;
  readonly below: Referenced | undefined;
}

function chooseItem(from: Referenced, { at, record, below = {} }: ChosenItem): Referenced {
  const found: Record<string, JsonObject> = {};
  for (const [path, one] of Object.entries(from)) if (path !== at && !path.startsWith(`${at}.`)) found[path] = one;
  if (record !== undefined) found[at] = record;
  for (const [path, one] of Object.entries(below)) found[`${at}.${path}`] = one;
  return found;
}

/** Returns the paths of a comparison, the left side first. A path of two names follows no reference. */
function longPathsIn({ field, context, value = null }: JsonObject, { groups }: Facts): readonly string[] {
  const left = Object.hasOwn(groups, parsePath(String(field)).group) ? String(field) : `${context}.${field}`;
  const texts = (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string');
  return [left, ...texts.flatMap(pathsIn)].filter((path) => parsePath(path).keys.length > 1);
}

/** The lists of references of comparisons, in the order in which their items are chosen: `undefined` for no further list. */
const lists = new WeakMap<JsonObject, (FollowedList | undefined)[]>();

/** Returns the first list of references that a path of a comparison follows and whose item is not chosen yet. */
function firstList(condition: JsonObject, facts: Facts): FollowedList | undefined {
  const known = lists.get(condition) ?? [];
  lists.set(condition, known);
  const turn = facts.chosen?.size ?? 0;
  if (turn >= known.length) known.push(findList(condition, facts));
  return known[turn];
}

function findList(condition: JsonObject, facts: Facts): FollowedList | undefined {
  for (const path of longPathsIn(condition, facts)) {
    const list = listIn(path, facts);
    if (list !== undefined) return list;
  }
  return undefined;
}

function listIn(path: string, { related, aliases = {}, chosen }: Facts): FollowedList | undefined {
  const { group, keys, wholes } = parsePath(path);
  let of = aliases[group] ?? (group === 'user' ? 'User' : group === 'resource' ? related?.decided : undefined);
  for (const [index, key] of keys.slice(0, -1).entries()) {
    const target = of === undefined ? undefined : related?.targetOf(of, key);
    if (target === undefined) return undefined;
    const at = wholes[index] ?? '';
    if (target.isList && chosen?.has(at) !== true) return { path: at, resource: target.resource };
    of = target.resource;
  }
  return undefined;
}

/** Maximum records of a hierarchy that are compared. */
const LEVELS = 32;

/** Compares a record and its ancestors with ids. */
function truthOfWithin({ field, value = null, ifExists }: JsonObject, facts: Facts): Truth {
  const { related, groups, aliases = {} } = facts;
  if (related === undefined) throw new Error('expected related records');
  const { group, rest } = parsePath(String(field));
  const of = aliases[group] ?? (group === 'user' ? 'User' : related.decided);
  const hierarchy = related.hierarchyAt(of, rest);
  let id = valueAt(String(field), facts);
  if (id === undefined) return ifExists === true ? false : null;
  const expected = resolve(value, facts);
  const wanted = typeof expected === 'string' ? [expected] : expected;
  if (hierarchy === undefined || !Array.isArray(wanted)) return null;
  const isOneOf = MEANINGS.get('in') as Meaning;
  const terms = { kind: 'text' as const, itemKind: undefined, now: facts.now, timeZone: facts.timeZone };
  let isCertain = true;
  for (let level = 1; level <= LEVELS; level++) {
    if (typeof id !== 'string') return null;
    // The caller and the decided record need not be stored.
    const record: JsonObject | undefined = level === 1 && rest === 'id' ? groups[group] : related.recordOf(hierarchy.resource, id);
    if (record === undefined) return null;
    const isFound = isOneOf.says(id, wanted, terms);
    if (isFound === true) return true;
    isCertain &&= isFound === false;
    id = record[hierarchy.parent];
    if (id === undefined) return isCertain ? false : null;
  }
  return null;
}

/** The records with the same links, by the values of the links: they are found once for all conditions. */
const linked = new WeakMap<RelatedFacts, Map<string, readonly JsonObject[]>>();

/** Counts the records whose fields equal the values of `on`, by their result of `where`. */
function truthOfRelated({ resource, as, on, where = [], atLeast, atMost }: JsonObject, facts: Facts): Truth {
  const { related, groups, reached = {}, aliases = {}, onRelated } = facts;
  if (related === undefined) throw new Error('expected related records');
  const [name, alias] = [String(resource), String(as)];
  const same = MEANINGS.get('eq') as Meaning;
  const isEqual = (a: Json, b: Json, field: string): boolean => {
    const kind = related.kindOf(name, field) as Kind | undefined;
    // Fields of JSON link no records.
    if (kind === 'json') return false;
    return same.says(a, b, { kind, itemKind: undefined, now: facts.now, timeZone: facts.timeZone }) === true;
  };
  const wanted = Object.entries(on as JsonObject).map(([field, value]) => ({ field, value: resolve(value, facts) }));
  // A value that is missing, null or of another kind links to no record, and it is not known to which it should.
  if (wanted.some(({ field, value }) => value === undefined || value === null || !isEqual(value, value, field))) return null;
  const ownId = name === related.decided ? groups['resource']?.['id'] : undefined;
  const isLinked = (record: JsonObject): boolean =>
    wanted.every(({ field, value }) => record[field] !== undefined && isEqual(record[field] as Json, value as Json, field));
  const values = JSON.stringify([name, wanted]);
  const matching = linked.get(related)?.get(values) ?? related.recordsOf(name).filter(isLinked);
  linked.set(related, (linked.get(related) ?? new Map()).set(values, matching));
  const records = matching.filter((record) => ownId === undefined || record['id'] !== ownId);
  if (records.length > related.limit) {
    onRelated?.('aboveLimit');
    return null;
  }
  const truths = records.map((record) => {
    const inner: Facts = {
      ...facts,
      groups: { ...groups, [alias]: record },
      aliases: { ...aliases, [alias]: name },
      reached: { ...reached, [alias]: related.referencedOf(name, record) },
    };
    return all(truthsOf(where as readonly JsonObject[], (one) => truthOf(one, inner)));
  });
  const met = truths.filter((truth) => truth === true).length;
  const possible = truths.filter((truth) => truth !== false).length;
  const least = atLeast === undefined && atMost === undefined ? 1 : Number(atLeast ?? 0);
  const most = atMost === undefined ? Number.POSITIVE_INFINITY : Number(atMost);
  if (met > most) onRelated?.('aboveAtMost');
  if (atLeast !== undefined && possible < least) onRelated?.('belowAtLeast');
  if (met >= least && possible <= most) return true;
  return possible < least || met > most ? false : null;
}

function truthOfExpression(expression: string, facts: Facts): Truth {
  const meaning = facts.expressions?.get(expression);
  if (meaning === undefined) throw new Error(`no meaning is defined for the expression ${expression}`);
  return typeof meaning === 'function' ? meaning((path) => valueAt(path, facts)) : truthOf(meaning, facts);
}

function truthOfComparison({ field, context, operator, value = null, ifExists }: JsonObject, facts: Facts): Truth {
  const meaning = MEANINGS.get(String(operator));
  if (meaning === undefined) return null;
  const path = Object.hasOwn(facts.groups, parsePath(String(field)).group) ? String(field) : `${context}.${field}`;
  const actual = valueAt(path, facts);
  if (actual === undefined && meaning.onMissing !== true) return ifExists === true ? false : null;
  if (actual === null && meaning.onNull !== true) return null;
  const terms = termsOf(path, { meaning, value, facts });
  if (terms === 'mismatch' || (terms.kind !== undefined && !meaning.kinds.includes(terms.kind))) return null;
  const expected = resolve(value, facts);
  // The subject is missing only if the operator defines a result for it.
  return expected === undefined ? null : meaning.says(actual as Json, expected, { ...terms, now: facts.now, timeZone: facts.timeZone });
}

/** Reads a path: own properties of plain objects, and on through references. */
function valueAt(path: string, { groups, referenced, reached }: Facts): Json | undefined {
  const { group, keys, parts, wholes } = parsePath(path);
  const ofAlias = reached?.[group];
  let value: Json | undefined = groups[group];
  for (const [index, key] of keys.entries()) {
    value =
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
        ? (value as JsonObject)[key]
        : undefined;
    if (index === keys.length - 1) break;
    const at = (ofAlias === undefined ? wholes : parts)[index] ?? '';
    const behind = ofAlias ?? referenced;
    if (Object.hasOwn(behind, at)) value = behind[at];
  }
  return value;
}

/** Resolves references: a lone `${path}` keeps its type, inside a text it becomes text, and a missing value makes the result undefined. */
function resolve(value: Json, facts: Facts): Json | undefined {
  if (typeof value === 'string') return resolveText(value, facts);
  return Array.isArray(value) ? value.map((item: Json) => (typeof item === 'string' ? resolveItem(item, facts) : item)) : value;
}

/** Resolves an item. A missing value becomes an object, because a comparison with an object is unknown. */
function resolveItem(text: string, facts: Facts): Json {
  const value = resolveText(text, facts);
  return value === undefined ? {} : value;
}

function resolveText(text: string, facts: Facts): Json | undefined {
  const path = onlyPath(text);
  if (path !== undefined) return valueAt(path, facts);
  const values = pathsIn(text).map((inner) => valueAt(inner, facts));
  if (values.length === 0) return text;
  if (values.some((value) => value === undefined || typeof value === 'object')) return undefined;
  return text.replaceAll(/\$\{[^}]*\}/g, () => String(values.shift()));
}

type Compared = { readonly kind: Kind | undefined; readonly itemKind: Kind | undefined };

/** Returns the kind of the comparison: the kind of the path combined with the kinds of the references on the other side. */
function termsOf(path: string, { meaning, value, facts }: { meaning: Meaning; value: Json; facts: Facts }): Compared | 'mismatch' {
  const left = kindAt(path, facts);
  if (meaning.right === 'other') return left;
  const isAboutItems = meaning.kinds.includes('list');
  const isAboutTime = meaning === MEANINGS.get('before') || meaning === MEANINGS.get('after');
  let met: Kind | undefined | 'mismatch' = isAboutItems ? left.itemKind : left.kind;
  for (const right of rightKinds(value, meaning, facts)) {
    // Operators on time read text on the right side as time.
    if (met !== 'mismatch') met = meet(met, isAboutTime && right === 'text' ? undefined : right);
  }
  if (met === 'mismatch') return met;
  return isAboutItems ? { kind: left.kind, itemKind: met } : { kind: met, itemKind: left.itemKind };
}

function rightKinds(value: Json, { right }: Meaning, facts: Facts): readonly (Kind | undefined)[] {
  const path = onlyPath(value);
  if (path !== undefined) return [right === 'values' ? kindAt(path, facts).itemKind : kindAt(path, facts).kind];
  const items: readonly Json[] = Array.isArray(value) ? value : [];
  return items.map(onlyPath).map((item) => (item === undefined ? undefined : kindAt(item, facts).kind));
}

function kindAt(path: string, { kinds, aliases = {}, related }: Facts): Compared {
  const { group, rest } = parsePath(path);
  const name = aliases[group];
  const said = name === undefined ? kinds.get(path) : related?.kindOf(name, rest);
  const item = said?.startsWith('list of ') ? (said.slice('list of '.length) as Kind) : undefined;
  return item === undefined ? { kind: said as Kind | undefined, itemKind: undefined } : { kind: 'list', itemKind: item };
}

/** Combines two kinds. An unknown kind and JSON adopt the other; text adopts dates, instants and decimals. */
function meet(left: Kind | undefined, right: Kind | undefined): Kind | undefined | 'mismatch' {
  if (right === undefined || right === 'json' || left === right) return left;
  if (left === undefined || left === 'json') return right;
  const written = ['date', 'timestamp', 'decimal'];
  if (left === 'text' && written.includes(right)) return right;
  return right === 'text' && written.includes(left) ? left : 'mismatch';
}
