/** Parses a condition on related records. */
import { didYouMean } from '../errors.ts';
import { isObject, type Json, type JsonObject, type Kind, OPERATORS, ownValue } from '../operators/index.ts';
import { isGroup, relatedPath } from './attribute-path.ts';
import { ALWAYS, type Comparison, type Condition, constant, type RelatedLink } from './condition.ts';
import {
  addConditionIssue,
  type ConditionIssueCode,
  type ConditionParser,
  expected,
  joinPath,
  type OpenRelated,
} from './condition-parser.ts';
import { parseOperand, validateSides } from './parse-comparison.ts';
import { followsList } from './through-lists.ts';

/** The members of a condition on related records. */
const RELATED_MEMBERS: readonly string[] = ['resource', 'as', 'on', 'where', 'atLeast', 'atMost'];
/** Maximum unknown members that are reported. */
const MAX_UNKNOWN_MEMBERS = 10;
/** Maximum depth of nested conditions on related records. */
const MAX_NESTED = 2;
/** Maximum links of a condition, so that its key and its index stay short. */
const MAX_LINKS = 8;
const ALIAS = /^[a-z][A-Za-z0-9_]{0,31}$/;

/** The position of the condition, and the parser of the conditions in its `where`. */
interface RelatedPlace {
  readonly at: string;
  readonly parser: ConditionParser;
  parseWhere(where: readonly Json[], at: string): Condition;
}

/** Parses the value of `related`. Adds an issue for each mistake and then returns an unknown condition. */
export function parseRelated(input: Json, place: RelatedPlace): Condition {
  const { at, parser, parseWhere } = place;
  const refuse = (name: string, code: ConditionIssueCode, detail: string): undefined => {
    addConditionIssue(parser, joinPath(at, name), { code, detail });
    return undefined;
  };
  if (!isObject(input))
    return addConditionIssue(parser, at, { code: 'type', detail: expected('an object with resource, as and on', input) });
  const before = parser.issues.length;
  if (parser.related.length === MAX_NESTED) {
    const detail = `expected at most ${MAX_NESTED} conditions on related records within each other`;
    return addConditionIssue(parser, at, { code: 'tooDeep', detail });
  }
  const unknown = Object.keys(input).filter((name) => !RELATED_MEMBERS.includes(name));
  for (const name of unknown.slice(0, MAX_UNKNOWN_MEMBERS)) {
    refuse(name.slice(0, 64), 'unknown', `unknown member "${name.slice(0, 64)}"${didYouMean(name, RELATED_MEMBERS)}`);
  }
  const described = parseResource(ownValue(input, 'resource'), parser, refuse);
  const as = parseAlias(ownValue(input, 'as'), parser, refuse);
  const atLeast = parseBound(input, { name: 'atLeast', min: 1 }, refuse);
  const atMost = parseBound(input, { name: 'atMost', min: 0 }, refuse);
  if (atLeast !== undefined && atMost !== undefined && atLeast > atMost) {
    refuse('atMost', 'range', `expected at least ${atLeast}, the value of atLeast, given ${atMost}`);
  }
  if (described === undefined || as === undefined) return constant(null);
  const open: OpenRelated = { as, description: described.description };
  const on = parseLinks(ownValue(input, 'on'), { open, at: joinPath(at, 'on'), parser });
  const where = within(open, parser, () => parseConditionsOf(ownValue(input, 'where'), { at: joinPath(at, 'where'), parser, parseWhere }));
  if (parser.issues.length > before || on === undefined) return constant(null);
  const bounds = atLeast === undefined && atMost === undefined ? { atLeast: 1 } : { atLeast, atMost };
  return Object.freeze({
    type: 'related',
    resource: described.name,
    as,
    on,
    where,
    ...bounds,
    limit: parser.options.limits.relatedRecords,
  });
}

type Refuse = (name: string, code: ConditionIssueCode, detail: string) => undefined;

interface DescribedResource {
  readonly name: string;
  readonly description: OpenRelated['description'];
}

function parseResource(given: Json | undefined, { options }: ConditionParser, refuse: Refuse): DescribedResource | undefined {
  if (given === undefined) return refuse('resource', 'required', 'expected the name of a resource, given nothing');
  if (typeof given !== 'string') return refuse('resource', 'type', expected('the name of a resource', given));
  const described = options.describeRelated?.(given);
  if (described !== undefined && 'problem' in described) return refuse('resource', 'value', described.problem);
  return { name: given, description: described };
}

function parseAlias(given: Json | undefined, { related }: ConditionParser, refuse: Refuse): string | undefined {
  if (given === undefined)
    return refuse('as', 'required', 'expected the name with which fields in "where" begin, such as "m", given nothing');
  if (typeof given !== 'string' || !ALIAS.test(given)) {
    return refuse('as', 'type', expected('a name of at most 32 letters, digits and _ that begins with a small letter', given));
  }
  if (isGroup(given) || given === 'related' || given === 'constructor')
    return refuse('as', 'value', `"${given}" has another meaning in paths`);
  return related.some(({ as }) => as === given) ? refuse('as', 'value', `"${given}" is the name of the related records around it`) : given;
}

function parseBound(input: JsonObject, { name, min }: { readonly name: string; readonly min: number }, refuse: Refuse): number | undefined {
  const given = ownValue(input, name);
  if (given === undefined) return undefined;
  if (typeof given !== 'number' || !Number.isSafeInteger(given)) return refuse(name, 'type', expected('an integer', given));
  return given < min ? refuse(name, 'range', `expected at least ${min}, given ${given}`) : given;
}

/** The place of the links, and the condition on related records to which they belong. */
interface LinksPlace {
  readonly open: OpenRelated;
  readonly at: string;
  readonly parser: ConditionParser;
}

function parseLinks(given: Json | undefined, { open, at, parser }: LinksPlace): readonly RelatedLink[] | undefined {
  const count = isObject(given) ? Object.keys(given).length : 0;
  if (!isObject(given) || count === 0 || count > MAX_LINKS) {
    const wanted = `an object with 1 to ${MAX_LINKS} fields of the related resource, and the values that they equal`;
    addConditionIssue(parser, at, { code: given === undefined ? 'required' : 'type', detail: expected(wanted, given) });
    return undefined;
  }
  const links = Object.entries(given).map(([field, value]) =>
    parseLink(field, value, { open, at: joinPath(at, field.slice(0, 64)), parser }),
  );
  return links.includes(undefined) ? undefined : links.filter((link) => link !== undefined);
}

function parseLink(field: string, value: Json, { open, at, parser }: LinksPlace): RelatedLink | undefined {
  const refuse = (code: ConditionIssueCode, detail: string): undefined => void addConditionIssue(parser, at, { code, detail });
  if (!/^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(field)) return refuse('field', `expected the name of a field, given "${field.slice(0, 64)}"`);
  const operand = parseOperand(value, { at, parser });
  if (operand === undefined) return undefined;
  const isLinkable =
    operand.type === 'reference' || (operand.type === 'literal' && operand.value !== null && typeof operand.value !== 'object');
  if (operand.type === 'reference' && followsList(operand.path, parser))
    return refuse('value', `"${operand.path.text}" follows a list of references: a linking field equals one value`);
  if (!isLinkable) return refuse('value', expected(`a text, number or boolean, or one \${path}`, value));
  const path = relatedPath(open.as, field);
  const equality: Comparison = { type: 'comparison', path, operator: 'eq', operand, ifExists: false };
  const kind = open.description?.describe([field], path.text);
  const isLinking = kind === undefined || kind === 'any' || 'problem' in kind || canLink(kind.kind);
  if (!isLinking) return refuse('field', `records cannot be linked by "${field}", which is ${kind.kind}`);
  const [mistake] = within(open, parser, () => validateSides(equality, parser));
  return mistake === undefined ? { path, operand } : refuse('value', mistake);
}

/** Returns true if databases compare columns of a kind with `=`. Columns of JSON have no equality in PostgreSQL. */
function canLink(kind: Kind): boolean {
  return kind !== 'json' && OPERATORS.get('eq')?.kinds.includes(kind) === true;
}

/** The conditions in `where`. */
interface WherePlace extends Pick<RelatedPlace, 'parser' | 'parseWhere'> {
  readonly at: string;
}

function parseConditionsOf(given: Json | undefined, { at, parser, parseWhere }: WherePlace): Condition {
  if (given === undefined) return ALWAYS;
  if (Array.isArray(given) && given.length > 0) return parseWhere(given, at);
  return addConditionIssue(parser, at, { code: 'type', detail: expected('a list of at least one condition', given) });
}

/** Calls `parse`. Meanwhile, paths may begin with the alias of the related resource. */
function within<T>(open: OpenRelated, { related }: ConditionParser, parse: () => T): T {
  related.push(open);
  const result = parse();
  related.pop();
  return result;
}
