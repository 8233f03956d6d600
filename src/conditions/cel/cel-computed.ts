import type { CelInput, CelValue } from '@bufbuild/cel';
import { type Json, toInstantText, UNKNOWN } from '../../operators/index.ts';
import type { Computed, Expression, ExpressionReading, Path } from '../condition.ts';
import { COMPARES_WITH_NOTHING } from '../partial-evaluation.ts';
import { type CelProgram, planCel, withinEffort } from './cel-evaluate.ts';
import { type CelTime, celLibrary, refuse } from './cel-library.ts';
import { toMilliseconds } from './cel-timestamps.ts';
import { type CelNode, type CelSource, knownPathOf, partsOf } from './cel-tree.ts';

/** Returns whether a node has one value for all records: it reads no field of the record, and no loop variable except `names`. */
export function isOfNoRecord(node: CelNode, names: readonly string[] = []): boolean {
  const read = knownPathOf(node);
  if (read !== undefined) return read.path.group !== 'resource';
  const { exprKind } = node;
  if (exprKind.case === 'identExpr') return names.includes(exprKind.value.name);
  const inner = exprKind.case === 'comprehensionExpr' ? [...names, exprKind.value.iterVar, exprKind.value.accuVar] : names;
  return partsOf(node).every((part) => isOfNoRecord(part, inner));
}

/** The values that a part of an expression is compared with. */
export interface ComparedWith {
  /** True if they are timestamps. CEL compares these as instants; other texts would be compared with an instant as texts. */
  readonly instants: boolean;
  /** True if they are integers. CEL compares ints beyond 2^53 exactly; as doubles, different values could be equal. */
  readonly integers: boolean;
}

/** The comparison that a part of an expression is computed for. */
interface ComputedFor {
  readonly source: CelSource;
  readonly beside: ComparedWith;
}

/** Converts a node with one value for all records to an operand. */
export function toComputed(node: CelNode, { source, beside }: ComputedFor): Computed {
  const { paths, bind, run } = planCel(node);
  return Object.freeze({
    type: 'computed',
    source: celLibrary().unparse({ ...source, expr: node }),
    paths,
    evaluate: (reading: ExpressionReading) => withinEffort(() => toJson(run(bind(reading)), beside)),
  });
}

/** A term for each item of a list, such as `g.team` in `user.grants.exists(g, g.team == …)`. Neither list nor term reads the record. */
export interface TermOfItems {
  readonly list: CelNode;
  readonly name: string;
  readonly term: CelNode;
}

/** The values of the terms as an operand, and a further condition of the loop. */
export interface ComputedItems {
  readonly values: Computed;
  readonly hasItems: Expression;
  /** A condition that is unknown if a term is an error, else false; absent if the term is the item itself. */
  readonly errors: readonly Expression[];
}

/** Computes the term for each item. An error in one term does not end the loop: the other items still count. */
export function toComputedItems({ list, name, term }: TermOfItems, { source, beside }: ComputedFor): ComputedItems {
  const { unparse } = celLibrary();
  const [listText, termText] = [list, term].map((expr) => unparse({ ...source, expr }));
  const [lists, terms] = [planCel(list), planCel(term)];
  const paths = [...new Map([...lists.paths, ...terms.paths].map((path): [string, Path] => [path.text, path])).values()];
  const termsOf = (reading: ExpressionReading): readonly (CelValue | undefined)[] | undefined => {
    const bindings = terms.bind(reading);
    return itemsOf(lists, reading)?.map((item) => terms.run(withItem(bindings, name, item)));
  };
  const mapText = termText === name ? String(listText) : `${listText}.map(${name}, ${termText})`;
  const question = (text: string, answer: (reading: ExpressionReading) => boolean | undefined): Expression =>
    Object.freeze({
      type: 'expression',
      source: text,
      paths,
      evaluate: (reading: ExpressionReading) => withinEffort(() => answer(reading)) ?? UNKNOWN,
    });
  return {
    values: Object.freeze({
      type: 'computed',
      source: mapText,
      paths,
      evaluate: (reading: ExpressionReading) =>
        withinEffort(() =>
          termsOf(reading)
            ?.filter((value) => value !== undefined)
            .map((value) => orNothing(toJson(value, beside))),
        ),
    }),
    hasItems: question(`size(${listText}) > 0`, (reading) => {
      const items = itemsOf(lists, reading);
      return items && items.length > 0;
    }),
    errors:
      termText === name
        ? []
        : [question(`size(${mapText}) < 0`, (reading) => (termsOf(reading)?.every((value) => value !== undefined) ? false : undefined))],
  };
}

/** Returns the elements that a loop visits: the items of a list or the keys of an object. */
function itemsOf({ bind, run }: CelProgram, reading: ExpressionReading): readonly CelValue[] | undefined {
  const { isCelList, isCelMap } = celLibrary();
  const value = run(bind(reading));
  if (isCelList(value)) return [...value];
  return isCelMap(value) ? [...value.keys()] : undefined;
}

/** Converts an item of a list. NaN and infinity compare with nothing; null is a value. */
function orNothing(value: Json | undefined): Json {
  return value === undefined ? COMPARES_WITH_NOTHING : value;
}

function withItem(bindings: Record<string, CelInput>, name: string, item: CelValue): Record<string, CelInput> {
  const all = Object.create(bindings) as Record<string, CelInput>;
  all[name] = item;
  return all;
}

/** Converts a CEL value to the value that conditions compare: none for NaN and infinity, a text for an instant. Throws if that would be inexact. */
function toJson(value: CelValue | undefined, beside: ComparedWith): Json | undefined {
  const { celType, isCelList, isCelUint } = celLibrary();
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'bigint') return toNumber(value, beside);
  if (value === undefined) return undefined;
  if (isCelUint(value)) return toNumber(value.value, beside);
  if (isCelList(value)) return [...value].map((item) => orNothing(toJson(item, beside)));
  const isInstant = beside.instants && celType(value).name === 'google.protobuf.Timestamp';
  return isInstant ? toInstantText(toMilliseconds(value as CelTime)) : COMPARES_WITH_NOTHING;
}

function toNumber(value: bigint, { integers }: ComparedWith): number {
  const nearest = Number(value);
  // Beyond 2^53 the nearest double is on the same side of every integer that a field can hold.
  return integers || BigInt(nearest) === value ? nearest : refuse('no double is equal');
}
