import { didYouMean } from '../errors.ts';
import { type Json, type JsonObject, OPERATORS, type Operator, ownValue, suggestOperator } from '../operators/index.ts';
import { isGroup, parsePath } from './attribute-path.ts';
import { comparedAs } from './comparison-kind.ts';
import {
  CONTEXT_GROUPS,
  type ComparedAs,
  type Comparison,
  type Condition,
  type ContextGroup,
  constant,
  type Operand,
  operandPaths,
  type Path,
  type PathKind,
} from './condition.ts';
import { addConditionIssue, type ConditionParsing, describedKind, expected, member } from './parsing-context.ts';
import { validateLiteralBounds, validateLiterals } from './validate-literals.ts';

/** What a comparison may have. */
export const COMPARISON_MEMBERS: readonly string[] = ['field', 'operator', 'value', 'context', 'ifExists'];

/** A mistake in one member. */
type Note = (name: string, code: 'type' | 'required' | 'field' | 'context' | 'operator' | 'value', detail: string) => undefined;

/** Reads `{ field, operator, value, context?, ifExists? }`; every mistake in it is noted. */
export function parseComparison(input: JsonObject, at: string, reading: ConditionParsing): Condition {
  const before = reading.issues.length;
  const noteIn: Note = (name, code, detail) => {
    addConditionIssue(reading, member(at, name), { code, detail });
    return undefined;
  };
  const context = readContext(ownValue(input, 'context'), noteIn);
  const path = context === 'wrong' ? undefined : readField(ownValue(input, 'field'), context, noteIn);
  const kind = path === undefined ? undefined : readKind(path, reading, noteIn);
  const operator = readOperator(ownValue(input, 'operator'), { path, kind }, noteIn);
  const ifExists = readIfExists(ownValue(input, 'ifExists'), noteIn);
  const operand = parseOperand(ownValue(input, 'value'), { at: member(at, 'value'), reading });
  if (path === undefined || operator === undefined || operand === undefined || reading.issues.length > before) return constant(null);
  const comparison: Comparison = Object.freeze({ type: 'comparison', path, operator: operator.name, operand, ifExists });
  for (const detail of validateSides(comparison, reading)) noteIn('value', 'value', detail);
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

function readKind(path: Path, reading: ConditionParsing, noteIn: Note): PathKind | undefined {
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

/** Where an operand stands, and the reading it is part of. */
interface OperandPlace {
  readonly at: string;
  readonly reading: ConditionParsing;
}

/** Shapes that are lists, and those that a text can be. */
const LIST_SHAPES: readonly Operator['operand'][] = ['scalars', 'range', 'timesOfDay', 'daysOfWeek', 'networks'];
const TEXT_SHAPES: readonly Operator['operand'][] = ['scalar', 'text', 'pattern', 'duration', 'time', 'networks'];

/** Reads the right side of a comparison; undefined where it has a mistake, which is noted. */
export function parseOperand(value: Json | undefined, place: OperandPlace): Operand | undefined {
  const { textLength, listItems } = place.reading.reader.limits;
  if (value === undefined) return fail(place, 'required', 'expected a value, given nothing');
  if (typeof value === 'string') {
    return value.length > textLength
      ? fail(place, 'limit', `expected at most ${textLength} characters, given ${value.length}`)
      : readText(value, place);
  }
  if (!Array.isArray(value)) return { type: 'literal', value };
  if (value.length > listItems) return fail(place, 'limit', `expected at most ${listItems} items, given ${value.length}`);
  const items = value.map((item: Json, index) =>
    typeof item === 'string' ? parseOperand(item, { ...place, at: member(place.at, index) }) : ({ type: 'literal', value: item } as const),
  );
  if (items.some((item) => item === undefined)) return undefined;
  const known = items.filter((item) => item !== undefined);
  return known.every((item) => item.type === 'literal') ? { type: 'literal', value } : { type: 'array', items: known };
}

/** What is wrong with an operand for an operator, as far as it can be said before references have values. */
export function validateOperand(operand: Operand, operator: Operator, as: ComparedAs): string | undefined {
  const { operand: shape } = operator;
  switch (operand.type) {
    case 'literal':
      return operator.checkOperand(operand.value, as);
    case 'reference':
    case 'computed':
      return undefined;
    case 'template':
      return TEXT_SHAPES.includes(shape) ? undefined : `operator "${operator.name}" does not take a text`;
    case 'array':
      return checkArray(operand.items, operator, as);
  }
}

/** Its literals are checked with a literal in the place of each reference, so that what asks for two values sees two. */
function checkArray(items: readonly Operand[], operator: Operator, as: ComparedAs): string | undefined {
  if (!LIST_SHAPES.includes(operator.operand)) return `operator "${operator.name}" does not take a list`;
  const first = items.find((item) => item.type === 'literal');
  if (first !== undefined)
    return operator.checkOperand(
      items.map((item) => (item.type === 'literal' ? item.value : first.value)),
      as,
    );
  const isPair = operator.operand === 'range' || operator.operand === 'timesOfDay';
  return isPair && items.length !== 2 ? `expected a list of two, given ${items.length}` : undefined;
}

/** `${path}` alone is a reference, among other text part of a template. */
function readText(text: string, place: OperandPlace): Operand | undefined {
  if (!text.includes('${')) return { type: 'literal', value: text };
  const parts: (string | Path)[] = [];
  for (let at = 0; at < text.length; ) {
    const start = text.indexOf('${', at);
    if (start < 0) {
      parts.push(text.slice(at));
      break;
    }
    const end = text.indexOf('}', start);
    if (end < 0) return fail(place, 'value', expected('a closing } after ${', text));
    if (start > at) parts.push(text.slice(at, start));
    const parsed = parsePath(text.slice(start + 2, end));
    if ('problem' in parsed) return fail(place, 'value', `reference: ${parsed.problem}`);
    parts.push(parsed.path);
    at = end + 1;
  }
  const [only] = parts;
  return parts.length === 1 && typeof only === 'object' ? { type: 'reference', path: only } : { type: 'template', parts };
}

function fail({ at, reading }: OperandPlace, code: 'required' | 'limit' | 'value', detail: string): undefined {
  addConditionIssue(reading, at, { code, detail });
  return undefined;
}

/** Returns messages for mistakes in a comparison: unknown paths, kinds that cannot be compared, literals that do not fit. */
export function validateSides(comparison: Comparison, reading: ConditionParsing): readonly string[] {
  const operator = OPERATORS.get(comparison.operator);
  if (operator === undefined) return [`unknown operator "${comparison.operator}"`];
  const mistakes: string[] = [];
  const kinds = new Map<string, PathKind | undefined>();
  for (const path of [comparison.path, ...operandPaths(comparison.operand)]) {
    const described = describedKind(reading, path);
    if ('problem' in described) mistakes.push(described.problem);
    else kinds.set(path.text, described.kind);
  }
  const as = comparedAs(comparison, operator, (path) => kinds.get(path.text));
  const mistake =
    as === 'mismatch'
      ? `what ${comparison.path.text} is compared with is of another kind; such a comparison is always unknown`
      : (checkWritten(comparison, operator, { as, reading }) ?? validateOperand(comparison.operand, operator, as));
  return mistake === undefined ? mistakes : [...mistakes, mistake];
}

/** Reports literals that can never match. Only new rules are checked; stored rules keep their decisions. */
function checkWritten(
  comparison: Comparison,
  operator: Operator,
  { as, reading: { reader } }: { readonly as: ComparedAs; readonly reading: ConditionParsing },
): string | undefined {
  if (reader.domainOf === undefined) return undefined;
  const domain = reader.domainOf(comparison.path);
  return (domain && validateLiterals(comparison, operator, domain)) ?? validateLiteralBounds(comparison, operator, { as, domain });
}
