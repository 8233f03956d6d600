/**
 * The forms of a condition in JSON. The builder keeps the JSON itself as its state: a form is read from it and written back to it, with all
 * members that the builder does not know.
 */

/** The groups of the context that a path starts with. */
export const GROUPS = ['user', 'resource', 'environment', 'request'] as const;

/** The other members of a condition, which are kept as they are. */
type Others = Readonly<Record<string, unknown>>;

/** A comparison of the value at a path. */
export interface ComparisonForm {
  readonly type: 'comparison';
  /** The path with its group. */
  readonly path: string;
  readonly operator: string;
  /** Undefined if the condition has no value. */
  readonly value: unknown;
  /** True if a missing value makes the comparison false instead of unknown. */
  readonly ifExists: boolean;
  /** The condition as it was read. */
  readonly source: Others;
}

/** Conditions of which all or one must be true. */
export interface GroupForm {
  readonly type: 'allOf' | 'anyOf';
  readonly of: readonly unknown[];
  readonly source: Others;
}

/** A condition on the number of records of another resource that are linked with the request. */
export interface RelatedForm {
  readonly type: 'related';
  /** The resource whose records are counted; empty if the condition names none. */
  readonly resource: string;
  /** The alias with which the paths in `where` begin; empty if the condition has none. */
  readonly as: string;
  /** The fields of the related resource, and the values that they equal. */
  readonly on: Others;
  /** The conditions on a counted record; undefined if each linked record counts. */
  readonly where: readonly unknown[] | undefined;
  readonly atLeast: number | undefined;
  readonly atMost: number | undefined;
  /** The condition as it was read. */
  readonly source: Others;
}

/** A condition as the builder shows it. `raw` is JSON that it cannot show as a form. */
export type ConditionForm =
  | ComparisonForm
  | GroupForm
  | RelatedForm
  | { readonly type: 'not'; readonly of: unknown; readonly source: Others }
  | { readonly type: 'expression'; readonly expression: string; readonly source: Others }
  | { readonly type: 'raw'; readonly json: unknown };

/** Reads the form of a condition. */
export function readCondition(json: unknown): ConditionForm {
  if (!isRecord(json)) return { type: 'raw', json };
  const { allOf, anyOf, not, related, expression } = json;
  const names = ['allOf', 'anyOf', 'not', 'related', 'expression', 'field'].filter((name) => Object.hasOwn(json, name));
  // A condition with two forms is a mistake that only the text can show.
  if (names.length !== 1) return { type: 'raw', json };
  if (Array.isArray(allOf)) return { type: 'allOf', of: allOf, source: json };
  if (Array.isArray(anyOf)) return { type: 'anyOf', of: anyOf, source: json };
  if (isRecord(not)) return { type: 'not', of: not, source: json };
  if (typeof expression === 'string') return { type: 'expression', expression, source: json };
  if (isRecord(related)) return readRelated(related, json) ?? { type: 'raw', json };
  return readComparison(json) ?? { type: 'raw', json };
}

function readComparison(json: Others): ComparisonForm | undefined {
  const { field, context, operator = '', value, ifExists = false } = json;
  if (typeof field !== 'string' || typeof operator !== 'string' || typeof ifExists !== 'boolean') return undefined;
  if (context !== undefined && typeof context !== 'string') return undefined;
  return { type: 'comparison', path: toPath(field, context), operator, value, ifExists, source: json };
}

function readRelated(related: Others, source: Others): RelatedForm | undefined {
  const { resource = '', as = '', on = {}, where, atLeast, atMost } = related;
  if (typeof resource !== 'string' || typeof as !== 'string' || !isRecord(on)) return undefined;
  if (where !== undefined && !Array.isArray(where)) return undefined;
  if (!isCount(atLeast) || !isCount(atMost)) return undefined;
  return { type: 'related', resource, as, on, where, atLeast, atMost, source };
}

function isCount(value: unknown): value is number | undefined {
  return value === undefined || typeof value === 'number';
}

/** Returns the path with its group: a field may name its group in `context`. */
function toPath(field: string, context: string | undefined): string {
  const [first = ''] = field.split('.');
  return context === undefined || GROUPS.some((group) => group === first) ? field : `${context}.${field}`;
}

/** Writes a form to JSON. A form that was read and not changed gives the JSON that it was read from. */
export function writeCondition(form: ConditionForm): unknown {
  switch (form.type) {
    case 'raw':
      return form.json;
    case 'comparison':
      return writeComparison(form);
    case 'not':
      return { ...form.source, not: form.of };
    case 'expression':
      return { ...form.source, expression: form.expression };
    case 'related':
      return writeRelated(form);
    default:
      return { ...form.source, [form.type]: form.of };
  }
}

function writeComparison({ path, operator, value, ifExists, source }: ComparisonForm): unknown {
  const { field, context, ifExists: _, operator: written, value: __, ...others } = source;
  const isSamePath = typeof field === 'string' && path === toPath(field, typeof context === 'string' ? context : undefined);
  return {
    ...(isSamePath ? { field, ...(context !== undefined && { context }) } : { field: path }),
    ...((operator !== '' || written !== undefined) && { operator }),
    ...(value !== undefined && { value }),
    ...((ifExists || source['ifExists'] !== undefined) && { ifExists }),
    ...others,
  };
}

function writeRelated({ resource, as, on, where, atLeast, atMost, source }: RelatedForm): unknown {
  const before = isRecord(source['related']) ? source['related'] : {};
  // Members that were absent stay absent while the form shows nothing for them.
  const members = {
    ...((resource !== '' || before['resource'] !== undefined) && { resource }),
    ...((as !== '' || before['as'] !== undefined) && { as }),
    ...((Object.keys(on).length > 0 || before['on'] !== undefined) && { on }),
    ...(where !== undefined && { where }),
    ...(atLeast !== undefined && { atLeast }),
    ...(atMost !== undefined && { atMost }),
  };
  const kept = Object.entries(before).filter(([name]) => Object.hasOwn(members, name) || !RELATED_MEMBERS.includes(name));
  return { ...source, related: { ...Object.fromEntries(kept), ...members } };
}

/** The members of a condition on related records that the form shows. */
const RELATED_MEMBERS: readonly string[] = ['resource', 'as', 'on', 'where', 'atLeast', 'atMost'];

/** Returns a new comparison with an empty path. */
export function emptyComparison(): unknown {
  return { field: '', operator: 'eq', value: '' };
}

/** Returns the other group of the same conditions: all instead of any, and the reverse. */
export function switchGroup({ type, of, source }: GroupForm): unknown {
  const { [type]: _, ...others } = source;
  return { [type === 'allOf' ? 'anyOf' : 'allOf']: of, ...others };
}

/** Returns the condition negated; a negated one without its `not`. */
export function negate(json: unknown): unknown {
  const form = readCondition(json);
  return form.type === 'not' ? form.of : { not: json };
}

/** Returns true for a JSON object. */
export function isRecord(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
