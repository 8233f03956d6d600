import type { CelEnv, CelInput, CelValue } from '@bufbuild/cel';
import { type Truth, UNKNOWN } from '../operators/index.ts';
import { createConversions } from './cel-conversions.ts';
import { createComparingFunctions, createMixedArithmetic, createPatterns, createTextFunctions } from './cel-functions.ts';
import { createInstantFunctions, createInstantTexts } from './cel-instants.ts';
import { celLibrary } from './cel-library.ts';
import type { CelNode, CelSource } from './cel-tree.ts';
import { toBindings, toTemplate } from './cel-variables.ts';
import type { Expression, ExpressionReading, Path } from './condition.ts';

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
  bind(reading: ExpressionReading): Record<string, CelInput>;
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
    evaluate(reading: ExpressionReading): Truth {
      const answer = withinEffort(() => run(bind(reading)));
      return typeof answer === 'boolean' ? answer : UNKNOWN;
    },
  });
}
