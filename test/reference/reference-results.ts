/** Keeps the results of conditions for the reference decider, because the same ones are evaluated for many records and users. */
import type { JsonObject, Truth } from '../../src/operators/index.ts';
import { truthOf } from './reference-conditions.ts';
import type { Facts, RelatedResult } from './reference-facts.ts';

/** The objects of facts on which a result depends, in addition to time and time zone. */
interface ReadGroups {
  readonly user: boolean;
  readonly resource: boolean;
}

/** The result of a condition, and of the conditions on related records in it. */
interface Result {
  readonly truth: Truth;
  readonly related: ReadonlySet<RelatedResult>;
}

const groups = new WeakMap<JsonObject, ReadGroups>();
const results = new WeakMap<JsonObject, WeakMap<JsonObject, WeakMap<JsonObject, Result>>>();
/** Stands for a group that a condition does not read. */
const NOT_READ: JsonObject = {};

/** Returns the result of a condition. Evaluates it once for the same user and the same record, if it reads them. */
export function keptTruthOf(condition: JsonObject, facts: Facts): Truth {
  const reads = entryOf(groups, condition, () => groupsIn(condition));
  const ofUser = entryOf(results, condition, () => new WeakMap());
  const ofRecord = entryOf(ofUser, (reads.user && facts.groups['user']) || NOT_READ, () => new WeakMap());
  const result = entryOf(ofRecord, (reads.resource && facts.groups['resource']) || NOT_READ, () => evaluate(condition, facts));
  for (const one of result.related) facts.onRelated?.(one);
  return result.truth;
}

const NONE: ReadonlySet<RelatedResult> = new Set();

function evaluate(condition: JsonObject, facts: Facts): Result {
  const related = new Set<RelatedResult>();
  const truth = truthOf(condition, { ...facts, onRelated: (one) => related.add(one) });
  return { truth, related: related.size === 0 ? NONE : related };
}

/** Related records depend on the decided record, because it is not related to itself. Each request has a record object of its own. */
function groupsIn(condition: JsonObject): ReadGroups {
  const text = JSON.stringify(condition);
  return { user: /\b(user|context)\b/.test(text), resource: /\b(resource|request|environment|context|related)\b/.test(text) };
}

function entryOf<Value>(map: WeakMap<JsonObject, Value>, key: JsonObject, create: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = create();
  map.set(key, value);
  return value;
}
