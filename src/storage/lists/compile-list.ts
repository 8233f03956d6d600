import { LRUCache } from 'lru-cache';
import { type Condition, compileCondition, conditionKey, conditionPaths, readsOtherRecords } from '../../conditions/index.ts';
import { memoize } from '../../memoize.ts';
import type { Definitions, Resource } from '../../resources/index.ts';
import type { Transaction } from '../contract.ts';
import { mayHaveAlternatives } from './list-alternatives.ts';
import type { CompiledList, ListQuery } from './list-query.ts';
import { resourcesReadBy } from './listed-records.ts';
import { findsForAllRows, listTargetFor } from './sql-target.ts';

/** The condition of a list, its definitions and its time. */
interface ListCondition extends Pick<ListQuery, 'definitions' | 'existence' | 'now' | 'timeZone'> {
  readonly condition: Condition;
  /** True for a condition that is rarely repeated. It is not kept. */
  readonly isOnce?: boolean | undefined;
}

/**
 * Maximum compiled conditions of each of two groups that are kept for a set of definitions. Callers repeat their lists, and compiling a condition takes
 * longer than rendering its key. Simple conditions have a group of their own, because they differ more: they would replace those that take longer to compile.
 */
const MAX_COMPILED = 500;
/** Maximum characters of the key of a compiled condition, which may contain lists of values. */
const MAX_KEY = 4000;

type CompiledLists = WeakMap<Definitions, LRUCache<string, CompiledList>>;
/** Conditions that read other records or may have alternatives. */
const costly: CompiledLists = new WeakMap();
const simple: CompiledLists = new WeakMap();
const createLists = (): LRUCache<string, CompiledList> => new LRUCache({ max: MAX_COMPILED });

/** Compiles the condition of a list, or returns the kept one: its key is equal for conditions with the same result in every scope. */
export function compileList(tx: Transaction, resource: Resource, list: ListCondition): CompiledList {
  const { condition, existence, definitions, timeZone, isOnce } = list;
  // Definitions that do not contain the resource may be used later with another one of the same name.
  if (isOnce || definitions.get(resource.name) !== resource) return compile(tx, resource, list);
  const key = [resource.name, tx.dialect.name, findsForAllRows(tx), existence, timeZone, conditionKey(condition)].join(' ');
  const isCostly = readsOtherRecords(condition) || mayHaveAlternatives(condition);
  const lists = memoize(isCostly ? costly : simple, definitions, createLists);
  const known = lists.get(key);
  if (known !== undefined) return { ...known, condition };
  const compiled = compile(tx, resource, list);
  if (compiled.compiled.readsTime || key.length > MAX_KEY) return compiled;
  const kept = { ...compiled, key, keptPage: {} };
  lists.set(key, kept);
  return kept;
}

function compile(tx: Transaction, resource: Resource, { condition, isOnce: _, ...options }: ListCondition): CompiledList {
  const { existence, definitions } = options;
  const target = listTargetFor(tx, resource, options);
  const paths = conditionPaths(condition);
  const reads = resourcesReadBy(condition, { resource, definitions, paths });
  return { condition, existence, target, compiled: compileCondition(condition, target), paths, reads };
}
