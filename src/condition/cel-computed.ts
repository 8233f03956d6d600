import type { CelInput, CelValue } from '@bufbuild/cel';
import { type Json, type Truth, toInstantText, UNKNOWN } from '../operators/index.ts';
import { type CelProgram, planCel, withinEffort } from './cel-evaluate.ts';
import { toMilliseconds } from './cel-instants.ts';
import { celLibrary } from './cel-library.ts';
import type { CelTime } from './cel-standard.ts';
import { type CelNode, type CelSource, knownPathOf, partsOf } from './cel-tree.ts';
import type { Computed, Expression, ExpressionReading, Path } from './condition.ts';
import { COMPARES_WITH_NOTHING } from './resolve.ts';

/** Whether a node has one value for all records: it reads nothing of the record, and no item of a loop but those `names`. */
export function isOfNoRecord(node: CelNode, names: readonly string[] = []): boolean {
  const read = knownPathOf(node);
  if (read !== undefined) return read.path.group !== 'resource';
  const { exprKind } = node;
  if (exprKind.case === 'identExpr') return names.includes(exprKind.value.name);
  const inner = exprKind.case === 'comprehensionExpr' ? [...names, exprKind.value.iterVar, exprKind.value.accuVar] : names;
  return partsOf(node).every((part) => isOfNoRecord(part, inner));
}

/** What a part of an expression is worked out for. */
interface ComputedFor {
  readonly source: CelSource;
  /** Whether it is compared with timestamps. Other texts would be compared with an instant as texts, where CEL compares instants. */
  readonly withInstants: boolean;
}

/** The operand that such a node is. */
export function toComputed(node: CelNode, { source, withInstants }: ComputedFor): Computed {
  const { paths, bind, run } = planCel(node);
  return Object.freeze({
    type: 'computed',
    source: celLibrary().unparse({ ...source, expr: node }),
    paths,
    evaluate: (reading: ExpressionReading) => withinEffort(() => toJson(run(bind(reading)), withInstants)),
  });
}

/** A term for each item of a list, such as `g.team` in `user.grants.exists(g, g.team == …)`. Neither list nor term reads the record. */
export interface TermOfItems {
  readonly list: CelNode;
  readonly name: string;
  readonly term: CelNode;
}

/** The values of the terms as an operand, and whether there are any. */
export interface ComputedItems {
  readonly values: Computed;
  readonly hasItems: Expression;
}

/** Works the terms out item by item: an item whose term is an error compares with nothing, as it does in a loop. */
export function toComputedItems({ list, name, term }: TermOfItems, { source, withInstants }: ComputedFor): ComputedItems {
  const { unparse } = celLibrary();
  const [listText, termText] = [list, term].map((expr) => unparse({ ...source, expr }));
  const [lists, terms] = [planCel(list), planCel(term)];
  const paths = [...new Map([...lists.paths, ...terms.paths].map((path): [string, Path] => [path.text, path])).values()];
  return {
    values: Object.freeze({
      type: 'computed',
      source: termText === name ? String(listText) : `${listText}.map(${name}, ${termText})`,
      paths,
      evaluate: (reading: ExpressionReading) =>
        withinEffort(() => {
          const bindings = terms.bind(reading);
          const termOf = (item: CelValue) => toJson(terms.run(withItem(bindings, name, item)), withInstants);
          return itemsOf(lists, reading)?.map((item) => orNothing(termOf(item)));
        }),
    }),
    hasItems: Object.freeze({
      type: 'expression',
      source: `size(${listText}) > 0`,
      paths,
      evaluate(reading: ExpressionReading): Truth {
        const items = withinEffort(() => itemsOf(lists, reading));
        return items === undefined ? UNKNOWN : items.length > 0;
      },
    }),
  };
}

/** What a loop runs over: the items of a list, the keys of an object. */
function itemsOf({ bind, run }: CelProgram, reading: ExpressionReading): readonly CelValue[] | undefined {
  const { isCelList, isCelMap } = celLibrary();
  const value = run(bind(reading));
  if (isCelList(value)) return [...value];
  return isCelMap(value) ? [...value.keys()] : undefined;
}

/** In a list, an error compares with nothing; null is a value. */
function orNothing(value: Json | undefined): Json {
  return value === undefined ? COMPARES_WITH_NOTHING : value;
}

function withItem(bindings: Record<string, CelInput>, name: string, item: CelValue): Record<string, CelInput> {
  const all = Object.create(bindings) as Record<string, CelInput>;
  all[name] = item;
  return all;
}

/** A value of CEL as conditions compare it. NaN and what is infinite has none; an instant is its text. */
function toJson(value: CelValue | undefined, withInstants: boolean): Json | undefined {
  const { celType, isCelList, isCelUint } = celLibrary();
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  // Beyond 2^53 the nearest double is on the same side of every number that a field can hold.
  if (typeof value === 'bigint') return Number(value);
  if (value === undefined) return undefined;
  if (isCelUint(value)) return Number(value.value);
  if (isCelList(value)) return [...value].map((item) => orNothing(toJson(item, withInstants)));
  const isInstant = withInstants && celType(value).name === 'google.protobuf.Timestamp';
  return isInstant ? toInstantText(toMilliseconds(value as CelTime)) : COMPARES_WITH_NOTHING;
}
