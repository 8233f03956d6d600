import type { Json, JsonObject } from '../operators/index.ts';
import type { Field, FieldType } from './field-type.ts';

const DEFAULT_MAX_ITEMS = 1000;
const MAX_ITEMS = 10_000;

/** Creates the field type `list`. `itemTypes` are the types that items may have, by name. */
export function createListType(itemTypes: ReadonlyMap<string, FieldType>): FieldType {
  const itemType = (field: Field): FieldType => {
    const type = itemTypes.get(field.of?.type ?? '');
    if (type === undefined) throw new Error(`list ${field.name} has no item type`);
    return type;
  };
  return Object.freeze({
    name: 'list',
    label: 'List',
    summary: 'Several values of the type in `of` (a type name or a field). At most 1,000 items, or `maxLength`, which can be up to 10,000.',
    options: ['of', 'minLength', 'maxLength'],
    kind: 'list',
    column: 'json',
    widensTo: ['json'],
    form: 'list',
    example: ['harbour', 'repairs'],
    jsonSchema: (field) => toSchema(field, itemType(field).jsonSchema(itemOf(field))),
    responseSchema: (field) => {
      const type = itemType(field);
      return toSchema(field, type.responseSchema?.(itemOf(field)) ?? type.jsonSchema(itemOf(field)));
    },
    validateOptions: (field) => validateListOptions(field, itemTypes),
    validateValue: (value, field) => validateItems(value, itemOf(field), itemType(field)),
    isOutOfRange: (value, field) => isItemOutOfRange(value, itemOf(field), itemType(field)),
    toCanonical: (value, field) => {
      const type = itemType(field);
      const toCanonical = type.toCanonical?.bind(type);
      return Array.isArray(value) && toCanonical !== undefined ? value.map((item: Json) => toCanonical(item, itemOf(field))) : value;
    },
    toColumn: (value) => (Array.isArray(value) ? JSON.stringify(value) : undefined),
    fromColumn: (stored) => (typeof stored === 'string' ? (JSON.parse(stored) as Json) : (stored as Json)),
  } satisfies FieldType);
}

function toSchema(field: Field, items: JsonObject): JsonObject {
  return {
    type: 'array',
    items,
    ...(field.minLength !== undefined && { minItems: field.minLength }),
    maxItems: field.maxLength ?? DEFAULT_MAX_ITEMS,
  };
}

function itemOf(field: Field): Field {
  if (field.of === undefined) throw new Error(`list ${field.name} has no item`);
  return field.of;
}

function validateItems(value: Json, itemField: Field, type: FieldType): string | undefined {
  if (!Array.isArray(value)) return 'expected a list';
  for (const [index, item] of value.entries()) {
    const wrong = type.validateValue?.(item as Json, itemField);
    if (wrong !== undefined) return `item ${index}: ${wrong}`;
  }
  return undefined;
}

/** Returns true if the first invalid item is out of range. */
function isItemOutOfRange(value: Json, itemField: Field, type: FieldType): boolean {
  const wrong = Array.isArray(value) ? value.find((item: Json) => type.validateValue?.(item, itemField) !== undefined) : undefined;
  return wrong !== undefined && type.isOutOfRange?.(wrong as Json, itemField) === true;
}

function validateListOptions(field: Field, itemTypes: ReadonlyMap<string, FieldType>): { option: string; detail: string }[] {
  const mistakes: { option: string; detail: string }[] = [];
  const maxItems = field.maxLength ?? DEFAULT_MAX_ITEMS;
  if (maxItems > MAX_ITEMS) mistakes.push({ option: 'maxLength', detail: `expected at most ${MAX_ITEMS} items, given ${maxItems}` });
  if (field.minLength !== undefined && field.minLength > maxItems) {
    mistakes.push({ option: 'minLength', detail: `expected at most maxLength, which is ${maxItems}, given ${field.minLength}` });
  }
  if (field.of?.onDelete === 'setNull' && field.minLength !== undefined) {
    mistakes.push({ option: 'of', detail: 'expected onDelete restrict or cascade, because the list has a minLength, given setNull' });
  }
  if (field.of === undefined) {
    mistakes.push({ option: 'of', detail: 'expected the type of the items, given none' });
  } else if (!itemTypes.has(field.of.type)) {
    mistakes.push({ option: 'of', detail: `expected one of ${[...itemTypes.keys()].join(', ')}, given ${field.of.type}` });
  }
  return mistakes;
}
