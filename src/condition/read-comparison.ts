import { didYouMean } from '../errors.ts';
import { type Json, type JsonObject, OPERATORS, type Operator, ownValue, suggestOperator } from '../operators/index.ts';
import { checkSides } from './check-comparison.ts';
import { CONTEXT_GROUPS, type Comparison, type Condition, type ContextGroup, type Path } from './condition.ts';
import { isGroup, parsePath } from './path.ts';
import { readOperand } from './read-operand.ts';
import { describedKind, expected, member, note, type Reading } from './reading.ts';
import type { PathKind } from './scope.ts';
import { constant } from './tree.ts';

/** What a comparison may have. */
export const COMPARISON_MEMBERS: readonly string[] = ['field', 'operator', 'value', 'context', 'ifExists'];

/** A mistake in one member. */
type Note = (name: string, code: 'type' | 'required' | 'field' | 'context' | 'operator' | 'value', detail: string) => undefined;

/** Reads `{ field, operator, value, context?, ifExists? }`; every mistake in it is noted. */
export function readComparison(input: JsonObject, at: string, reading: Reading): Condition {
  const before = reading.issues.length;
  const noteIn: Note = (name, code, detail) => {
    note(reading, member(at, name), { code, detail });
    return undefined;
  };
  const context = readContext(ownValue(input, 'context'), noteIn);
  const path = context === 'wrong' ? undefined : readField(ownValue(input, 'field'), context, noteIn);
  const kind = path === undefined ? undefined : readKind(path, reading, noteIn);
  const operator = readOperator(ownValue(input, 'operator'), { path, kind }, noteIn);
  const ifExists = readIfExists(ownValue(input, 'ifExists'), noteIn);
  const operand = readOperand(ownValue(input, 'value'), { at: member(at, 'value'), reading });
  if (path === undefined || operator === undefined || operand === undefined || reading.issues.length > before) return constant(null);
  const comparison: Comparison = Object.freeze({ type: 'comparison', path, operator: operator.name, operand, ifExists });
  for (const detail of checkSides(comparison, reading)) noteIn('value', 'value', detail);
  return reading.issues.length > before ? constant(null) : comparison;
}

function readContext(given: Json | undefined, noteIn: Note): ContextGroup | undefined | 'wrong' {
  if (given === undefined) return undefined;
  if (typeof given === 'string' && isGroup(given)) return given;
  const near = typeof given === 'string' ? didYouMean(given, CONTEXT_GROUPS) : '';
  noteIn('context', 'context', `${expected(`one of ${CONTEXT_GROUPS.join(', ')}`, given)}${near}`);
  return 'wrong';
}

function readField(given: Json | undefined, context: ContextGroup | undefined, noteIn: Note): Path | undefined {
  if (given === undefined) return noteIn('field', 'required', 'expected a path such as "user.department", given nothing');
  if (typeof given !== 'string') return noteIn('field', 'type', expected('a path such as "user.department"', given));
  const parsed = parsePath(given, context);
  if ('path' in parsed) return parsed.path;
  return noteIn('field', 'field', parsed.problem);
}

function readKind(path: Path, reading: Reading, noteIn: Note): PathKind | undefined {
  const described = describedKind(reading, path);
  if ('kind' in described) return described.kind;
  return noteIn('field', 'field', described.problem);
}

function readOperator(
  given: Json | undefined,
  { path, kind }: { readonly path: Path | undefined; readonly kind: PathKind | undefined },
  noteIn: Note,
): Operator | undefined {
  if (given === undefined) return noteIn('operator', 'required', 'expected an operator such as "eq", given nothing');
  if (typeof given !== 'string') return noteIn('operator', 'type', expected('an operator such as "eq"', given));
  const operator = OPERATORS.get(given);
  if (operator === undefined) {
    return noteIn('operator', 'operator', `unknown operator "${given.slice(0, 64)}"${suggestOperator(given)}`);
  }
  if (kind === undefined || operator.kinds.includes(kind.kind)) return operator;
  const fitting = [...OPERATORS.values()].filter((other) => other.kinds.includes(kind.kind)).map((other) => other.name);
  return noteIn(
    'operator',
    'operator',
    `operator "${given}" does not fit ${path?.text}, which is ${kind.kind}; it takes ${fitting.join(', ')}`,
  );
}

function readIfExists(given: Json | undefined, noteIn: Note): boolean {
  if (given === undefined || typeof given === 'boolean') return given ?? false;
  noteIn('ifExists', 'type', expected('true or false', given));
  return false;
}
