import type { CelInput, CelValue } from '@bufbuild/cel';
import { type Json, toInstantText, UNKNOWN } from '../../operators/index.ts';
import type { ComputedOperand, Expression, ExpressionInput, Path } from '../condition.ts';
import { INCOMPARABLE } from '../operand-values.ts';
import { type CelProgram, planCel, withinEffort } from './cel-evaluate.ts';
import { type CelTime, celLibrary, refuse } from './cel-library.ts';
import { toMilliseconds } from './cel-timestamps.ts';
import { type CelNode, type CelSource, isRecordPath, partsOf, pathOf, withoutMarks } from './cel-tree.ts';

/** Returns whether a node has one value for all records: it reads no field of the record or of related records, and no loop variable except `names`. */
export function isRecordIndependent(node: CelNode, names: readonly string[] = []): boolean {
  const read = pathOf(node);
  if (read !== undefined) return !isRecordPath(read.path);
  const { exprKind } = node;
  if (exprKind.case === 'identExpr') return names.includes(exprKind.value.name);
  const inner = exprKind.case === 'comprehensionExpr' ? [...names, exprKind.value.iterVar, exprKind.value.accuVar] : names;
  return partsOf(node).every((part) => isRecordIndependent(part, inner));
}

/** The kind of values that a computed operand is compared with. */
export interface ComputedTarget {
  /** True if the values are timestamps. Their texts are then compared as points in time. */
  readonly timestamps: boolean;
  /** True if the values are integers within 2^53. A larger int is then rounded to a double; otherwise rounding could make different values equal. */
  readonly integers: boolean;
}

/** The source of the expression and the comparison that a part of it is computed for. */
interface ComputedOptions {
  readonly source: CelSource;
  readonly target: ComputedTarget;
}

/** Converts a node with one value for all records to an operand. */
export function toComputedOperand(node: CelNode, { source, target }: ComputedOptions): ComputedOperand {
  const { paths, bind, run } = planCel(node);
  return Object.freeze({
    type: 'computed',
    source: celLibrary().unparse({ ...source, expr: withoutMarks(node) }),
    paths,
    evaluate: (input: ExpressionInput) => withinEffort(() => toJson(run(bind(input)), target)),
  });
}

/**
 * A list and a term that is evaluated for each item: `user.grants` and `g.team` in `user.grants.exists(g, g.team == …)`. The list and the
 * term do not read the record.
 */
export interface TermOfItems {
  readonly list: CelNode;
  readonly name: string;
  readonly term: CelNode;
}

/** The values of the term for all items, as an operand, and conditions on the list and on errors. */
export interface ComputedItems {
  readonly values: ComputedOperand;
  readonly hasItems: Expression;
  /** A condition that is unknown if the term fails for an item, else false; empty if the term is the item itself. */
  readonly errors: readonly Expression[];
}

/** Computes the term for each item. If the term fails for an item, the other items still count. */
export function toComputedItems({ list, name, term }: TermOfItems, { source, target }: ComputedOptions): ComputedItems {
  const { unparse } = celLibrary();
  const [listText, termText] = [list, term].map((expr) => unparse({ ...source, expr: withoutMarks(expr) }));
  const [lists, terms] = [planCel(list), planCel(term)];
  const paths = [...new Map([...lists.paths, ...terms.paths].map((path): [string, Path] => [path.text, path])).values()];
  const termsOf = (input: ExpressionInput): readonly (CelValue | undefined)[] | undefined => {
    const bindings = terms.bind(input);
    return itemsOf(lists, input)?.map((item) => terms.run(withItem(bindings, name, item)));
  };
  const mapText = termText === name ? String(listText) : `${listText}.map(${name}, ${termText})`;
  const toExpression = (text: string, evaluate: (input: ExpressionInput) => boolean | undefined): Expression =>
    Object.freeze({
      type: 'expression',
      source: text,
      paths,
      evaluate: (input: ExpressionInput) => withinEffort(() => evaluate(input)) ?? UNKNOWN,
    });
  return {
    values: Object.freeze({
      type: 'computed',
      source: mapText,
      paths,
      evaluate: (input: ExpressionInput) =>
        withinEffort(() =>
          termsOf(input)
            ?.filter((value) => value !== undefined)
            .map((value) => orIncomparable(toJson(value, target))),
        ),
    }),
    hasItems: toExpression(`size(${listText}) > 0`, (input) => {
      const items = itemsOf(lists, input);
      return items && items.length > 0;
    }),
    errors:
      termText === name
        ? []
        : [toExpression(`size(${mapText}) < 0`, (input) => (termsOf(input)?.every((value) => value !== undefined) ? false : undefined))],
  };
}

/** Returns the elements that a loop visits: the items of a list or the keys of an object. */
function itemsOf({ bind, run }: CelProgram, input: ExpressionInput): readonly CelValue[] | undefined {
  const { isCelList, isCelMap } = celLibrary();
  const value = run(bind(input));
  if (isCelList(value)) return [...value];
  return isCelMap(value) ? [...value.keys()] : undefined;
}

/** Replaces undefined, which stands for NaN and infinity, by INCOMPARABLE. Null is kept, because it is a value. */
function orIncomparable(value: Json | undefined): Json {
  return value === undefined ? INCOMPARABLE : value;
}

function withItem(bindings: Record<string, CelInput>, name: string, item: CelValue): Record<string, CelInput> {
  const all = Object.create(bindings) as Record<string, CelInput>;
  all[name] = item;
  return all;
}

/**
 * Converts a CEL value to JSON: undefined for NaN and infinity, a text for a timestamp, INCOMPARABLE for other objects. Throws if an int
 * would be rounded.
 */
function toJson(value: CelValue | undefined, target: ComputedTarget): Json | undefined {
  const { celType, isCelList, isCelUint } = celLibrary();
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'bigint') return toNumber(value, target);
  if (value === undefined) return undefined;
  if (isCelUint(value)) return toNumber(value.value, target);
  if (isCelList(value)) return [...value].map((item) => orIncomparable(toJson(item, target)));
  const isTimestamp = target.timestamps && celType(value).name === 'google.protobuf.Timestamp';
  return isTimestamp ? toInstantText(toMilliseconds(value as CelTime)) : INCOMPARABLE;
}

function toNumber(value: bigint, { integers }: ComputedTarget): number {
  const nearest = Number(value);
  // Integer fields hold values within 2^53, so rounding a larger int does not change how it compares with them.
  return integers || BigInt(nearest) === value ? nearest : refuse('no double is equal');
}
