import { FIELD_TYPES, type Field, type FieldType } from '../fields/index.ts';
import { describeValue, isObject, type Json, type JsonObject } from '../operators/index.ts';
import { describeType, type Report } from './definition-mistake.ts';
import { quote, suggest, suggestAll } from './definition-names.ts';
import { COMMON_OPTIONS, OPTION_FORMS, type WrittenOption } from './field-options.ts';
import { validateFieldValue } from './validate-shape.ts';

/** Where a field stands, and whose it is. */
export interface FieldPlace {
  readonly name: string;
  readonly path: readonly (string | number)[];
  /** One of our own definitions: it may say `guarded`, and require what the service itself sets. */
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

/** Reads one field of a definition; undefined where it has mistakes, which are reported. */
export function parseField(source: Json, place: FieldPlace, report: Report): Field | undefined {
  if (!isObject(source)) {
    report(place.path, `expected an object with a type, such as { type: string }, given ${describeType(source)}`);
    return undefined;
  }
  const { refuse, isSound } = countMistakes(report);
  const type = readType(source, place, refuse);
  if (type === undefined) {
    checkUntyped(source, place, report);
    return undefined;
  }
  const allowed = [...COMMON_OPTIONS, ...type.options, ...(place.builtIn ? (['guarded'] as const) : [])];
  const field = readOptions(source, { ...place, type, allowed }, refuse);
  if (!isSound()) return undefined;
  checkTogether(field, { ...place, type, source }, refuse);
  if (isSound()) checkDefault(field, place, refuse);
  return isSound() ? toCanonicalField(field, type) : undefined;
}

/** Whether a field's values can stand in an index: single values that are not secret. */
export function isIndexable(field: Field): boolean {
  const kind = FIELD_TYPES.get(field.type)?.kind;
  return !field.writeOnly && kind !== undefined && kind !== 'list' && kind !== 'json';
}

function readType(source: JsonObject, place: FieldPlace, report: Report): FieldType | undefined {
  const given = Object.hasOwn(source, 'type') ? source['type'] : undefined;
  if (given === undefined) {
    report(place.path, `expected a type, one of ${[...FIELD_TYPES.keys()].join(', ')}`);
    return undefined;
  }
  const type = typeof given === 'string' ? FIELD_TYPES.get(given) : undefined;
  if (type === undefined) {
    report([...place.path, 'type'], `unknown type ${describeValue(given)}${suggestAll(String(given), FIELD_TYPES.keys())}`);
  }
  return type;
}

// Which options fit is for the type to say. That one is misspelt, `type` perhaps, can be said without.
function checkUntyped(source: JsonObject, { path }: FieldPlace, report: Report): void {
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

function readOptions(source: JsonObject, place: TypedPlace, report: Report): Field {
  const { name, path, type, allowed } = place;
  const options: Record<string, unknown> = {};
  for (const [option, value] of Object.entries(source)) {
    const at = [...path, option];
    if (option === 'type') continue;
    if (!isOneOf(option, allowed)) report(at, unknownOption(option, place), 'key');
    else if (!OPTION_FORMS[option].fits(value)) report(at, misfit(option, value));
    else options[option] = option === 'of' ? readItem(value, { ...place, path: at }, report) : value;
  }
  // Each option has the form that `Field` says, or is reported, and then nobody uses the field.
  return { ...ABSENT, ...options, name, type: type.name, ...(type.kind === undefined && { writeOnly: true }) } as Field;
}

// The item of a list is a type name or a field, of which only the options that concern single values mean anything.
function readItem(given: Json, place: FieldPlace, report: Report): Field | undefined {
  const source = typeof given === 'string' ? { type: given } : given;
  const type = isObject(source) ? readType(source, place, report) : undefined;
  if (!isObject(source) || type === undefined) return undefined;
  const { refuse, isSound } = countMistakes(report);
  const item = readOptions(source, { ...place, type, allowed: ['description', ...type.options] }, refuse);
  if (!isSound()) return undefined;
  for (const { option, detail } of type.validateOptions?.(item) ?? []) refuse([...place.path, option], detail);
  return isSound() ? toCanonicalField(item, type) : undefined;
}

// What is built on something broken would be blamed for it once more: each step goes on only while all before it were sound.
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
    const item = type.name === 'list' && (option === 'to' || option === 'onDelete') ? `; of what its items are, say it in "of"` : '';
    return `option "${option}" does not fit here: ${type.name} takes ${allowed.join(', ')}${item}`;
  }
  return `unknown option ${quote(option)}${suggest(option, ['type', ...allowed])}`;
}

interface CheckedPlace extends FieldPlace {
  readonly type: FieldType;
  readonly source: JsonObject;
}

// What every option allows by itself, but not beside the others.
function checkTogether(field: Field, { path, type, source, builtIn }: CheckedPlace, report: Report): void {
  for (const { option, detail } of type.validateOptions?.(field) ?? []) report([...path, option], detail);
  if (type.kind === undefined && source['writeOnly'] === false) {
    report([...path, 'writeOnly'], `expected true: a ${type.name} is never shown`);
  }
  for (const option of ['unique', 'index'] as const) {
    if (!field[option] || isIndexable(field)) continue;
    // From what is already taken, whoever may write could learn what a secret field holds.
    report([...path, option], `expected false: ${field.writeOnly ? 'a secret field' : `a ${type.name}`} stands in no index`);
  }
  if (field.readOnly && field.writeOnly) report([...path, 'readOnly'], 'expected false: the field is writeOnly, so nobody could use it');
  if (field.readOnly && field.required && field.default === undefined && !builtIn) {
    report([...path, 'readOnly'], 'expected a default beside it: the field is required and nobody may set it');
  }
}

function checkDefault(field: Field, { path }: FieldPlace, report: Report): void {
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
