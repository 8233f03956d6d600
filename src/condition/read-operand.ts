import type { Json, Operator } from '../operators/index.ts';
import type { ComparedAs, Operand, Path } from './condition.ts';
import { parsePath } from './path.ts';
import { expected, member, note, type Reading } from './reading.ts';

/** Where an operand stands, and the reading it is part of. */
interface OperandPlace {
  readonly at: string;
  readonly reading: Reading;
}

/** Shapes that are lists, and those that a text can be. */
const LIST_SHAPES: readonly Operator['operand'][] = ['scalars', 'range', 'timesOfDay', 'daysOfWeek', 'networks'];
const TEXT_SHAPES: readonly Operator['operand'][] = ['scalar', 'text', 'pattern', 'duration', 'time', 'networks'];

/** Reads the right side of a comparison; undefined where it has a mistake, which is noted. */
export function readOperand(value: Json | undefined, place: OperandPlace): Operand | undefined {
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
    typeof item === 'string' ? readOperand(item, { ...place, at: member(place.at, index) }) : ({ type: 'literal', value: item } as const),
  );
  if (items.some((item) => item === undefined)) return undefined;
  const known = items.filter((item) => item !== undefined);
  return known.every((item) => item.type === 'literal') ? { type: 'literal', value } : { type: 'array', items: known };
}

/** What is wrong with an operand for an operator, as far as it can be said before references have values. */
export function checkOperand(operand: Operand, operator: Operator, as: ComparedAs): string | undefined {
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
  note(reading, at, { code, detail });
  return undefined;
}
