import type { CelEnv, CelInput, CelValue } from '@bufbuild/cel';
import { type Json, type Truth, UNKNOWN } from '../../operators/index.ts';
import type { Expression, ExpressionInput, Path } from '../condition.ts';
import {
  createComparingFunctions,
  createConversions,
  createMixedArithmetic,
  createPatterns,
  createTextFunctions,
} from './cel-functions.ts';
import { celLibrary } from './cel-library.ts';
import { createInstantFunctions, createInstantTexts } from './cel-timestamps.ts';
import { type CelNode, type CelSource, mapParts, pathOf } from './cel-tree.ts';

/**
 * What one evaluation may look at: characters and items of what it reads, as often as it reads it, of texts that it compares,
 * joins and measures, and steps of patterns; a second or so at worst. `resource.tags.all(t, t in user.teams)` looks at the teams once for each tag, and what lists hold
 * may come from a client. Beyond it the answer is unknown.
 */
const MAX_EFFORT = 10_000_000;

/** Of the evaluation at hand; evaluating never waits, so there is one at a time. */
let effortLeft = 0;
let environment: CelEnv | undefined;

/**
 * Replaces functions of the CEL library. Comparisons and patterns have the semantics and bounds of the operators; conversions and
 * functions of instants return an error where the specification does and the library returns a value.
 */
function celEnvironment(): CelEnv {
  environment ??= celLibrary().celEnv({
    funcs: [
      ...createComparingFunctions(spend),
      ...createTextFunctions(spend),
      ...createMixedArithmetic(),
      ...createConversions(spend),
      ...createInstantFunctions(spend),
      ...createInstantTexts(spend),
    ],
    re2: createPatterns(spend),
  });
  return environment;
}

/** Made once: where effort is spent, a loop still goes on to its end, and making an error costs more than throwing it. */
const SPENT = new Error('the expression takes too long');

function spend(effort: number): void {
  effortLeft -= effort;
  if (effortLeft < 0) throw SPENT;
}

/** A part of a CEL tree, planned. */
export interface CelProgram {
  /** Every path it reads. */
  readonly paths: readonly Path[];
  bind(input: ExpressionInput): Record<string, CelInput>;
  /** Returns undefined for an error. It may also throw, so call it within `withinEffort`. */
  run(bindings: Record<string, CelInput>): CelValue | undefined;
}

/** Plans a part of a CEL tree. */
export function planCel(node: CelNode): CelProgram {
  const { isCelError, plan } = celLibrary();
  const { node: root, variables } = toTemplate(node);
  const run = plan(celEnvironment(), root);
  const paths = new Map([...variables.values()].map(({ path }) => [path.text, path]));
  return {
    paths: [...paths.values()],
    bind: ({ valueAt, kindOf }) => toBindings(variables, { valueAt, kindOf, spend }),
    run(bindings) {
      const value = run(bindings);
      return isCelError(value) ? undefined : value;
    },
  };
}

/** Evaluates programs within the bound on effort; undefined where that is an error. */
export function withinEffort<Result>(work: () => Result): Result | undefined {
  effortLeft = MAX_EFFORT;
  try {
    return work();
  } catch {
    // Programs return errors as values; what the library throws is an error of the expression too.
    return undefined;
  }
}

/** Makes an expression of a part of a CEL tree, to be evaluated in memory. */
export function toExpression(node: CelNode, source: CelSource): Expression {
  const { paths, bind, run } = planCel(node);
  return Object.freeze({
    type: 'expression',
    source: celLibrary().unparse({ ...source, expr: node }),
    paths,
    evaluate(input: ExpressionInput): Truth {
      const answer = withinEffort(() => run(bind(input)));
      return typeof answer === 'boolean' ? answer : UNKNOWN;
    },
  });
}

/** What an expression reads at a path: the value there, or whether there is one. */
export interface CelVariable {
  readonly path: Path;
  /** `has(path)`. */
  readonly presence: boolean;
}

/** A tree in which every path has become a variable, by their names in it. */
export interface CelTemplate {
  readonly node: CelNode;
  readonly variables: ReadonlyMap<string, CelVariable>;
}

/** A longer list is as good as missing: what a loop takes must not depend on what a client sends. No list field is longer. */
const MAX_ITEMS = 10_000;

/**
 * Makes every path that a tree reads a variable of its own. CEL would follow `resource.authorId.department` into the value of
 * `resource.authorId`, which is a text; and would call it an error to ask `has(user.a.b)` of a user without `a`, where `exists`
 * says no.
 */
export function toTemplate(root: CelNode): CelTemplate {
  const variables = new Map<string, CelVariable>();
  const rewrite = (node: CelNode): CelNode => {
    const read = pathOf(node);
    if (read === undefined) return mapParts(node, rewrite);
    // With a space in it, no expression can say this name itself.
    const name = `${read.presence ? 'has' : 'value'} ${read.path.text}`;
    variables.set(name, read);
    return { ...node, exprKind: { case: 'identExpr', value: { $typeName: 'cel.expr.Expr.Ident', name } } };
  };
  return { node: rewrite(root), variables };
}

/** What an expression is evaluated on. */
interface CelInputSource extends ExpressionInput {
  /** Told of the size of each value as often as it is read. */
  spend(effort: number): void;
}

/** The variables with a value; input any other is an error, and so unknown. */
export function toBindings(
  variables: ReadonlyMap<string, CelVariable>,
  { valueAt, kindOf, spend }: CelInputSource,
): Record<string, CelInput> {
  const bindings = Object.create(null) as Record<string, CelInput>;
  for (const [name, { path, presence }] of variables) {
    const value = valueAt(path);
    if (presence) bindings[name] = value !== undefined;
    else if (value !== undefined && !(Array.isArray(value) && value.length > MAX_ITEMS)) {
      const bound = toCel(value, kindOf(path)?.whole === true);
      const size = sizeOf(value);
      Object.defineProperty(bindings, name, {
        get(): CelInput {
          spend(size);
          return bound;
        },
      });
    }
  }
  return bindings;
}

/** Characters, items and members, those within included. */
function sizeOf(value: Json): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  return Object.entries(value).reduce((size, [key, member]) => size + key.length + sizeOf(member), 1);
}

/**
 * Converts values to lists and maps: CEL never receives a JavaScript object. Numbers are doubles, as in CEL's mapping from JSON; only
 * numbers of integer fields are ints.
 */
function toCel(value: Json, whole: boolean): CelInput {
  if (Array.isArray(value)) return value.map((item: Json) => toCel(item, whole));
  if (whole && Number.isSafeInteger(value)) return BigInt(value as number);
  if (typeof value !== 'object' || value === null) return value as CelInput;
  return new Map(Object.entries(value).map(([key, member]) => [key, toCel(member, false)]));
}
