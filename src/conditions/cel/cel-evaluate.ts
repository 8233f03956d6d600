import type { CelEnv, CelInput, CelValue } from '@bufbuild/cel';
import { type Json, MAX_MATCHING_STEPS, type Truth, UNKNOWN } from '../../operators/index.ts';
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
import { type CelNode, type CelSource, mapParts, pathOf, withoutMarks } from './cel-tree.ts';

/**
 * Maximum effort of one evaluation, about a second at worst. Effort counts the characters and items of each value at each read, and the
 * characters of texts that are compared, joined or measured. `resource.tags.all(t, t in user.teams)` reads the teams once for each tag,
 * and a client may send the tags. Above the limit the result is unknown. Patterns have a limit of their own.
 */
const MAX_EFFORT = 10_000_000;

/** The remaining effort of the current evaluation. Evaluation is synchronous, so there is one at a time. */
let effortLeft = 0;
/** The remaining steps of patterns of the current evaluation. Other comparisons on the record have their own, so the result does not depend on them. */
let stepsLeft = 0;
let environment: CelEnv | undefined;

/**
 * Returns the CEL environment, in which our functions replace some of the library. Comparisons and patterns have the semantics and limits
 * of the operators. Conversions and functions of timestamps return an error if the specification requires one and the library returns a
 * value.
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
    re2: createPatterns(spendSteps),
  });
  return environment;
}

/**
 * The error for an exceeded limit. Created once: a loop continues after the limit is exceeded and throws for every item, and creating an
 * error costs more than throwing it.
 */
const SPENT = new Error('the expression takes too long');

function spend(effort: number): void {
  effortLeft -= effort;
  if (effortLeft < 0) throw SPENT;
}

function spendSteps(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw SPENT;
}

/** A planned part of a CEL tree. */
export interface CelProgram {
  /** The paths that the part reads. */
  readonly paths: readonly Path[];
  bind(input: ExpressionInput): Record<string, CelInput>;
  /** Returns the value; undefined for an error. May also throw, so callers run it within `withinEffort`. */
  run(bindings: Record<string, CelInput>): CelValue | undefined;
}

/** Plans a part of a CEL tree for repeated evaluation. */
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

/** Runs `work`, which evaluates programs, within the limits on effort and on steps of patterns. Returns undefined if `work` throws. */
export function withinEffort<Result>(work: () => Result): Result | undefined {
  effortLeft = MAX_EFFORT;
  stepsLeft = MAX_MATCHING_STEPS;
  try {
    return work();
  } catch {
    // Programs return errors as values. An error that the library throws is an error of the expression too.
    return undefined;
  }
}

/** Converts a part of a CEL tree to an expression that is evaluated in memory. */
export function toExpression(node: CelNode, source: CelSource): Expression {
  const { paths, bind, run } = planCel(node);
  return Object.freeze({
    type: 'expression',
    source: celLibrary().unparse({ ...source, expr: withoutMarks(node) }),
    paths,
    evaluate(input: ExpressionInput): Truth {
      const answer = withinEffort(() => run(bind(input)));
      return typeof answer === 'boolean' ? answer : UNKNOWN;
    },
  });
}

/** A variable for the value at a path, or for its presence. */
export interface CelVariable {
  readonly path: Path;
  /** True for `has(path)`. */
  readonly presence: boolean;
}

/** A tree in which every path is replaced by a variable, and the variables by name. */
export interface CelTemplate {
  readonly node: CelNode;
  readonly variables: ReadonlyMap<string, CelVariable>;
}

/** Maximum items of a list, as of list fields. A longer list counts as missing, which bounds the time of loops over lists from clients. */
const MAX_ITEMS = 10_000;

/**
 * Replaces every path in a tree by a variable. CEL would read `resource.authorId.department` from the value of `resource.authorId`, which
 * is a text. And `has(user.a.b)` would be an error for a user without `a`, where the operator `exists` is false.
 */
function toTemplate(root: CelNode): CelTemplate {
  const variables = new Map<string, CelVariable>();
  const rewrite = (node: CelNode): CelNode => {
    const read = pathOf(node);
    if (read === undefined) return mapParts(node, rewrite);
    // The space prevents a collision: names in expressions cannot contain spaces.
    const name = `${read.presence ? 'has' : 'value'} ${read.path.text}`;
    variables.set(name, read);
    return { ...node, exprKind: { case: 'identExpr', value: { $typeName: 'cel.expr.Expr.Ident', name } } };
  };
  return { node: rewrite(root), variables };
}

/** The input of an evaluation, with its limit on effort. */
interface EvaluationInput extends ExpressionInput {
  /** Called with the size of a value each time it is read. */
  spend(effort: number): void;
}

/** Binds the variables that have a value. Reading a variable without a value is an error, which makes the result unknown. */
function toBindings(variables: ReadonlyMap<string, CelVariable>, { valueAt, kindOf, spend }: EvaluationInput): Record<string, CelInput> {
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

/** Returns the number of characters, items and members of a value, including nested values. */
function sizeOf(value: Json): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  return Object.entries(value).reduce((size, [key, member]) => size + key.length + sizeOf(member), 1);
}

/**
 * Converts JSON to CEL values. Objects become maps: CEL never receives a JavaScript object. Numbers are doubles, as in CEL's mapping from
 * JSON; only numbers of integer fields are ints.
 */
function toCel(value: Json, whole: boolean): CelInput {
  if (Array.isArray(value)) return value.map((item: Json) => toCel(item, whole));
  if (whole && Number.isSafeInteger(value)) return BigInt(value as number);
  if (typeof value !== 'object' || value === null) return value as CelInput;
  return new Map(Object.entries(value).map(([key, member]) => [key, toCel(member, false)]));
}
