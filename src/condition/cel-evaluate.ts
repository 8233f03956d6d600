import type { CelEnv } from '@bufbuild/cel';
import { type Truth, UNKNOWN } from '../operators/index.ts';
import { createConversions } from './cel-conversions.ts';
import { createComparingFunctions, createMixedArithmetic, createPatterns, createTextFunctions } from './cel-functions.ts';
import { createInstantFunctions, createInstantTexts } from './cel-instants.ts';
import { celLibrary } from './cel-library.ts';
import type { CelNode, CelSource } from './cel-tree.ts';
import { toBindings, toTemplate } from './cel-variables.ts';
import type { Expression, ExpressionReading } from './condition.ts';

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
 * Comparisons and patterns are ours, so that they mean the same here as the operators do, within the same bounds; conversions and
 * functions of instants are ours, because the library's have values where the specification has errors.
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

/** Makes an expression of a part of a CEL tree, to be evaluated in memory. */
export function toExpression(node: CelNode, source: CelSource): Expression {
  const { plan, unparse } = celLibrary();
  const template = toTemplate(node);
  const run = plan(celEnvironment(), template.node);
  const paths = new Map([...template.variables.values()].map(({ path }) => [path.text, path]));
  return Object.freeze({
    type: 'expression',
    source: unparse({ ...source, expr: node }),
    paths: [...paths.values()],
    evaluate({ valueAt, kindOf }: ExpressionReading): Truth {
      effortLeft = MAX_EFFORT;
      try {
        const answer = run(toBindings(template.variables, { valueAt, kindOf, spend }));
        return typeof answer === 'boolean' ? answer : UNKNOWN;
      } catch {
        // Evaluating hands errors back as values; whatever it throws all the same is an error too, and errors are unknown.
        return UNKNOWN;
      }
    },
  });
}
