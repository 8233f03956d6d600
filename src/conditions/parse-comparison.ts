import { didYouMean } from '../errors.ts';
import { type Json, type JsonObject, OPERATORS, type Operator, ownValue, suggestOperator } from '../operators/index.ts';
import { isGroup, parsePath } from './attribute-path.ts';
import { comparisonKindOf } from './comparison-kind.ts';
import {
  CONTEXT_GROUPS,
  type Comparison,
  type ComparisonKind,
  type Condition,
  type ContextGroup,
  constant,
  type Operand,
  type Path,
  type PathKind,
} from './condition.ts';
import { addConditionIssue, aliasesOf, type ConditionParser, expected, joinPath, lookupDomain, lookupKind } from './condition-parser.ts';
import { operandPaths } from './condition-paths.ts';
import { toWithin, WITHIN } from './parse-within.ts';
import { validateLiteralBounds, validateLiterals } from './validate-literals.ts';

/** The members of a comparison. */
export const COMPARISON_MEMBERS: readonly string[] = ['field', 'operator', 'value', 'context', 'ifExists'];

/** Adds an issue for a member of the comparison. */
type AddIssue = (name: string, code: 'type' | 'required' | 'field' | 'context' | 'operator' | 'value', detail: string) => undefined;

/** Parses `{ field, operator, value, context?, ifExists? }`. Adds an issue for each mistake and then returns an unknown condition. */
export function parseComparison(input: JsonObject, at: string, parser: ConditionParser): Condition {
  const before = parser.issues.length;
  const addIssue: AddIssue = (name, code, detail) => {
    addConditionIssue(parser, joinPath(at, name), { code, detail });
    return undefined;
  };
  const context = parseContextGroup(ownValue(input, 'context'), addIssue);
  const path = context === 'wrong' ? undefined : parseField(ownValue(input, 'field'), { context, parser }, addIssue);
  const kind = path === undefined ? undefined : toKind(path, parser, addIssue);
  const isWithin = ownValue(input, 'operator') === WITHIN.name;
  const operator = isWithin ? undefined : parseOperator(ownValue(input, 'operator'), { path, kind }, addIssue);
  const ifExists = parseIfExists(ownValue(input, 'ifExists'), addIssue);
  const operand = parseOperand(ownValue(input, 'value'), { at: joinPath(at, 'value'), parser });
  if (path === undefined || operand === undefined || parser.issues.length > before) return constant(null);
  if (operator === undefined) return parseWithin({ path, operand, ifExists }, parser, addIssue);
  const comparison: Comparison = Object.freeze({ type: 'comparison', path, operator: operator.name, operand, ifExists });
  for (const detail of validateSides(comparison, parser)) addIssue('value', 'value', detail);
  return parser.issues.length > before ? constant(null) : comparison;
}

function parseWithin(sides: Parameters<typeof toWithin>[0], parser: ConditionParser, addIssue: AddIssue): Condition {
  const parsed = toWithin(sides, parser);
  if ('condition' in parsed) return parsed.condition;
  for (const { member, detail } of parsed.mistakes) addIssue(member, member, detail);
  return constant(null);
}

function parseContextGroup(given: Json | undefined, addIssue: AddIssue): ContextGroup | undefined | 'wrong' {
  if (given === undefined) return undefined;
  if (typeof given === 'string' && isGroup(given)) return given;
  const near = typeof given === 'string' ? didYouMean(given, CONTEXT_GROUPS) : '';
  addIssue('context', 'context', `${expected(`one of ${CONTEXT_GROUPS.join(', ')}`, given)}${near}`);
  return 'wrong';
}

function parseField(
  given: Json | undefined,
  { context, parser }: { readonly context: ContextGroup | undefined; readonly parser: ConditionParser },
  addIssue: AddIssue,
): Path | undefined {
  if (given === undefined) return addIssue('field', 'required', 'expected a path such as "user.department", given nothing');
  if (typeof given !== 'string') return addIssue('field', 'type', expected('a path such as "user.department"', given));
  const parsed = parsePath(given, { context, aliases: aliasesOf(parser) });
  if ('path' in parsed) return parsed.path;
  return addIssue('field', 'field', parsed.problem);
}

function toKind(path: Path, parser: ConditionParser, addIssue: AddIssue): PathKind | undefined {
  const described = lookupKind(parser, path);
  if ('kind' in described) return described.kind;
  return addIssue('field', 'field', described.problem);
}

function parseOperator(
  given: Json | undefined,
  { path, kind }: { readonly path: Path | undefined; readonly kind: PathKind | undefined },
  addIssue: AddIssue,
): Operator | undefined {
  if (given === undefined) return addIssue('operator', 'required', 'expected an operator such as "eq", given nothing');
  if (typeof given !== 'string') return addIssue('operator', 'type', expected('an operator such as "eq"', given));
  const operator = OPERATORS.get(given);
  if (operator === undefined) {
    return addIssue(
      'operator',
      'operator',
      `unknown operator "${given.slice(0, 64)}"${suggestOperator(given, [...OPERATORS.keys(), WITHIN.name])}`,
    );
  }
  if (kind === undefined || operator.kinds.includes(kind.kind)) return operator;
  const fitting = [...OPERATORS.values()].filter((other) => other.kinds.includes(kind.kind)).map((other) => other.name);
  return addIssue(
    'operator',
    'operator',
    `operator "${given}" does not fit ${path?.text}, which is ${kind.kind}; it takes ${fitting.join(', ')}`,
  );
}

function parseIfExists(given: Json | undefined, addIssue: AddIssue): boolean {
  if (given === undefined || typeof given === 'boolean') return given ?? false;
  addIssue('ifExists', 'type', expected('true or false', given));
  return false;
}

/** The issue path of an operand, and the parser that collects the issues. */
interface OperandPlace {
  readonly at: string;
  readonly parser: ConditionParser;
}

/** Kinds of operands that are lists. */
const LIST_SHAPES: readonly Operator['operand'][] = ['scalars', 'range', 'timesOfDay', 'daysOfWeek', 'networks'];
/** Kinds of operands that can be written as a text. */
const TEXT_SHAPES: readonly Operator['operand'][] = ['scalar', 'text', 'pattern', 'duration', 'time', 'networks'];

/** Parses the right side of a comparison. Adds an issue and returns undefined if the value is invalid. */
export function parseOperand(value: Json | undefined, place: OperandPlace): Operand | undefined {
  const { textLength, listItems } = place.parser.options.limits;
  if (value === undefined) return refuse(place, 'required', 'expected a value, given nothing');
  if (typeof value === 'string') {
    return value.length > textLength
      ? refuse(place, 'tooLong', `expected at most ${textLength} characters, given ${value.length}`)
      : parseTextOperand(value, place);
  }
  if (!Array.isArray(value)) return { type: 'literal', value };
  if (value.length > listItems) return refuse(place, 'tooMany', `expected at most ${listItems} items, given ${value.length}`);
  const items = value.map((item: Json, index) =>
    typeof item === 'string'
      ? parseOperand(item, { ...place, at: joinPath(place.at, index) })
      : ({ type: 'literal', value: item } as const),
  );
  if (items.some((item) => item === undefined)) return undefined;
  const known = items.filter((item) => item !== undefined);
  return known.every((item) => item.type === 'literal') ? { type: 'literal', value } : { type: 'array', items: known };
}

/** Returns a message for an operand that the operator does not accept. References are not checked, because they have no value yet. */
function validateOperand(operand: Operand, operator: Operator, as: ComparisonKind): string | undefined {
  const { operand: shape } = operator;
  switch (operand.type) {
    case 'literal':
      return operator.validateOperand(operand.value, as);
    case 'reference':
    case 'computed':
      return undefined;
    case 'template':
      return TEXT_SHAPES.includes(shape) ? undefined : `operator "${operator.name}" does not take a text`;
    case 'array':
      return validateArray(operand.items, operator, as);
  }
}

/** Validates the literals of an array. References are replaced by the first literal, because an operator may require two items. */
function validateArray(items: readonly Operand[], operator: Operator, as: ComparisonKind): string | undefined {
  if (!LIST_SHAPES.includes(operator.operand)) return `operator "${operator.name}" does not take a list`;
  const first = items.find((item) => item.type === 'literal');
  if (first !== undefined)
    return operator.validateOperand(
      items.map((item) => (item.type === 'literal' ? item.value : first.value)),
      as,
    );
  const isPair = operator.operand === 'range' || operator.operand === 'timesOfDay';
  return isPair && items.length !== 2 ? `expected a list of two, given ${items.length}` : undefined;
}

/** Parses a text operand. `${path}` alone is a reference; a text that contains `${path}` is a template. */
function parseTextOperand(text: string, place: OperandPlace): Operand | undefined {
  if (!text.includes('${')) return { type: 'literal', value: text };
  const parts: (string | Path)[] = [];
  for (let at = 0; at < text.length; ) {
    const start = text.indexOf('${', at);
    if (start < 0) {
      parts.push(text.slice(at));
      break;
    }
    const end = text.indexOf('}', start);
    if (end < 0) return refuse(place, 'value', expected('a closing } after ${', text));
    if (start > at) parts.push(text.slice(at, start));
    const parsed = parsePath(text.slice(start + 2, end), { aliases: aliasesOf(place.parser) });
    if ('problem' in parsed) return refuse(place, 'value', `reference: ${parsed.problem}`);
    parts.push(parsed.path);
    at = end + 1;
  }
  const [only] = parts;
  return parts.length === 1 && typeof only === 'object' ? { type: 'reference', path: only } : { type: 'template', parts };
}

function refuse({ at, parser }: OperandPlace, code: 'required' | 'tooLong' | 'tooMany' | 'value', detail: string): undefined {
  addConditionIssue(parser, at, { code, detail });
  return undefined;
}

/** Returns messages for mistakes in a comparison: unknown paths, kinds that cannot be compared, literals that do not fit. */
export function validateSides(comparison: Comparison, parser: ConditionParser): readonly string[] {
  const operator = OPERATORS.get(comparison.operator);
  if (operator === undefined) return [`unknown operator "${comparison.operator}"`];
  const mistakes: string[] = [];
  const kinds = new Map<string, PathKind | undefined>();
  for (const path of [comparison.path, ...operandPaths(comparison.operand)]) {
    const described = lookupKind(parser, path);
    if ('problem' in described) mistakes.push(described.problem);
    else kinds.set(path.text, described.kind);
  }
  const as = comparisonKindOf(comparison, operator, (path) => kinds.get(path.text));
  const mistake =
    as === 'mismatch'
      ? `${comparison.path.text} is compared with a value of another kind, which is always unknown`
      : (validateNewLiterals(comparison, operator, { as, parser }) ?? validateOperand(comparison.operand, operator, as));
  return mistake === undefined ? mistakes : [...mistakes, mistake];
}

/**
 * Returns a message for literals that can never match. Stored rules are not checked, so that a later definition does not change their
 * decisions.
 */
function validateNewLiterals(
  comparison: Comparison,
  operator: Operator,
  { as, parser }: { readonly as: ComparisonKind; readonly parser: ConditionParser },
): string | undefined {
  if (parser.options.domainOf === undefined) return undefined;
  const domain = lookupDomain(parser, comparison.path);
  return (domain && validateLiterals(comparison, operator, domain)) ?? validateLiteralBounds(comparison, operator, { as, domain });
}
