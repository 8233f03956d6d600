import { FIELD_TYPES, type Field, type FieldType } from '../fields/index.ts';
import { describeValue, isObject, type Json, type JsonObject } from '../operators/index.ts';
import { describeType, type Report } from './definition-mistake.ts';
import { quote, suggest, suggestType } from './definition-names.ts';
import { COMMON_OPTIONS, OPTION_FORMS, type WrittenOption } from './field-options.ts';
import { validateFieldValue } from './validate-shape.ts';

/** The position of a field in its definition. */
export interface FieldPlace {
  readonly name: string;
  readonly path: readonly (string | number)[];
  /** True in system definitions, which can have `guarded` and required read-only fields. */
  readonly builtIn: boolean;
}

const ABSENT: Omit<Field, 'name' | 'type'> = {
  required: false,
  unique: false,
  index: false,
  readOnly: false,
  writeOnly: false,
  immutable: false,
  guarded: false,
};

/** Parses a field. If the field has mistakes, reports them and returns undefined. */
export function parseField(source: Json, place: FieldPlace, report: Report): Field | undefined {
  if (!isObject(source)) {
    report(place.path, `expected an object with a type, such as { type: string }, given ${describeType(source)}`);
    return undefined;
  }
  const { refuse, isSound } = countMistakes(report);
  const type = parseType(source, place, refuse);
  if (type === undefined) {
    validateUntyped(source, place, report);
    return undefined;
  }
  const allowed = [...COMMON_OPTIONS, ...type.options, ...(place.builtIn ? (['guarded'] as const) : [])];
  const field = parseOptions(source, { ...place, type, allowed }, refuse);
  if (!isSound()) return undefined;
  validateCombination(field, { ...place, type, source }, refuse);
  if (isSound()) validateDefault(field, place, refuse);
  return isSound() ? toCanonicalField(field, type) : undefined;
}

/** Returns true if a field can be indexed: it has single values and is not secret. */
export function isIndexable(field: Field): boolean {
  const kind = FIELD_TYPES.get(field.type)?.kind;
  return !field.writeOnly && kind !== undefined && kind !== 'list' && kind !== 'json';
}

function parseType(source: JsonObject, place: FieldPlace, report: Report): FieldType | undefined {
  const given = Object.hasOwn(source, 'type') ? source['type'] : undefined;
  if (given === undefined) {
    report(place.path, `expected a type, one of ${[...FIELD_TYPES.keys()].join(', ')}`);
    return undefined;
  }
  const type = typeof given === 'string' ? FIELD_TYPES.get(given) : undefined;
  if (type === undefined) {
    report([...place.path, 'type'], `unknown type ${describeValue(given)}${suggestType(String(given), FIELD_TYPES.keys())}`);
  }
  return type;
}

// Validates the options of a field without a valid type: only unknown options and values of a wrong form can be reported.
function validateUntyped(source: JsonObject, { path }: FieldPlace, report: Report): void {
  const allowed = (Object.keys(OPTION_FORMS) as WrittenOption[]).filter((option) => option !== 'guarded');
  for (const [option, value] of Object.entries(source)) {
    const at = [...path, option];
    if (option === 'type') continue;
    if (!isOneOf(option, allowed)) report(at, `unknown option ${quote(option)}${suggest(option, ['type', ...allowed])}`, 'key');
    else if (!OPTION_FORMS[option].fits(value)) report(at, misfit(option, value));
  }
}

interface TypedPlace extends FieldPlace {
  readonly type: FieldType;
  readonly allowed: readonly WrittenOption[];
}

function parseOptions(source: JsonObject, place: TypedPlace, report: Report): Field {
  const { name, path, type, allowed } = place;
  const options: Record<string, unknown> = {};
  for (const [option, value] of Object.entries(source)) {
    const at = [...path, option];
    if (option === 'type') continue;
    if (!isOneOf(option, allowed)) report(at, unknownOption(option, place), 'key');
    else if (!OPTION_FORMS[option].fits(value)) report(at, misfit(option, value));
    else options[option] = option === 'of' ? parseItem(value, { ...place, path: at }, report) : value;
  }
  // Each option has its form, or a mistake was reported and the field is not used.
  return { ...ABSENT, ...options, name, type: type.name, ...(type.kind === undefined && { writeOnly: true }) } as Field;
}

// Parses the item of a list: the name of a type, or a field with only the options of its type.
function parseItem(given: Json, place: FieldPlace, report: Report): Field | undefined {
  const source = typeof given === 'string' ? { type: given } : given;
  const type = isObject(source) ? parseType(source, place, report) : undefined;
  if (!isObject(source) || type === undefined) return undefined;
  const { refuse, isSound } = countMistakes(report);
  const item = parseOptions(source, { ...place, type, allowed: ['description', ...type.options] }, refuse);
  if (!isSound()) return undefined;
  for (const { option, detail } of type.validateOptions?.(item) ?? []) refuse([...place.path, option], detail);
  return isSound() ? toCanonicalField(item, type) : undefined;
}

// Counts mistakes, so that a step runs only if all steps before it succeeded and no mistake is reported twice.
function countMistakes(report: Report): { readonly refuse: Report; isSound(): boolean } {
  let mistakes = 0;
  const refuse: Report = (...mistake) => {
    mistakes += 1;
    report(...mistake);
  };
  return { refuse, isSound: () => mistakes === 0 };
}

function misfit(option: WrittenOption, value: Json): string {
  return `expected ${OPTION_FORMS[option].expected}, given ${describeValue(value)}`;
}

function isOneOf(option: string, allowed: readonly WrittenOption[]): option is WrittenOption {
  return (allowed as readonly string[]).includes(option);
}

function unknownOption(option: string, { type, allowed }: TypedPlace): string {
  const fitsElsewhere = Object.hasOwn(OPTION_FORMS, option) && option !== 'guarded';
  if (fitsElsewhere) {
    const item = type.name === 'list' && (option === 'to' || option === 'onDelete') ? `; to set it for the items, use "of"` : '';
    return `option "${option}" does not fit here: ${type.name} takes ${allowed.join(', ')}${item}`;
  }
  return `unknown option ${quote(option)}${suggest(option, ['type', ...allowed])}`;
}

interface CheckedPlace extends FieldPlace {
  readonly type: FieldType;
  readonly source: JsonObject;
}

// Validates options that depend on each other.
function validateCombination(field: Field, { path, type, source, builtIn }: CheckedPlace, report: Report): void {
  for (const { option, detail } of type.validateOptions?.(field) ?? []) report([...path, option], detail);
  if (type.kind === undefined && source['writeOnly'] === false) {
    report([...path, 'writeOnly'], `expected true: a ${type.name} is never shown`);
  }
  for (const option of ['unique', 'index'] as const) {
    if (!field[option] || isIndexable(field)) continue;
    // A unique secret field would reveal its values to callers who may write.
    report([...path, option], `expected false: ${field.writeOnly ? 'a secret field' : `a ${type.name}`} cannot be indexed`);
  }
  if (field.readOnly && field.writeOnly)
    report([...path, 'readOnly'], 'expected false: a field that is readOnly and writeOnly cannot be used');
  if (field.readOnly && field.required && field.default === undefined && !builtIn) {
    report([...path, 'readOnly'], 'expected a default: the field is required, and no caller can set it');
  }
}

function validateDefault(field: Field, { path }: FieldPlace, report: Report): void {
  if (field.default === undefined) return;
  for (const { detail } of validateFieldValue(field, field.default)) {
    report([...path, 'default'], `${detail}, given ${describeValue(field.default)}`);
  }
}

function toCanonicalField(field: Field, type: FieldType): Field {
  const canonical: Record<string, Json> = {};
  for (const option of ['default', 'min', 'max'] as const) {
    const value = field[option];
    if (value !== undefined) canonical[option] = type.toCanonical?.(value, field) ?? value;
  }
  return Object.freeze({ ...field, ...canonical });
}
