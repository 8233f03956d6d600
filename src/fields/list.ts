import type { Json } from '../operators/index.ts';
import type { Field, FieldType } from './field-type.ts';

const USUAL = 1000;
const MOST = 10_000;

/** Several values of one scalar type. `itemTypes` are the types that items may have, by name. */
export function createListType(itemTypes: ReadonlyMap<string, FieldType>): FieldType {
  const itemType = (field: Field): FieldType => {
    const type = itemTypes.get(field.of?.type ?? '');
    if (type === undefined) throw new Error(`list ${field.name} has no item type`);
    return type;
  };
  return Object.freeze({
    name: 'list',
    label: 'List',
    summary: 'Several values of the type in `of` (a type name or a field); at most 1,000 items, or as `maxLength` says, up to 10,000.',
    options: ['of', 'minLength', 'maxLength'],
    kind: 'list',
    column: 'json',
    widensTo: ['json'],
    form: 'list',
    example: ['harbour', 'repairs'],
    jsonSchema: (field) => ({
      type: 'array',
      items: itemType(field).jsonSchema(itemOf(field)),
      ...(field.minLength !== undefined && { minItems: field.minLength }),
      maxItems: field.maxLength ?? USUAL,
    }),
    checkOptions: (field) => checkList(field, itemTypes),
    checkValue: (value, field) => checkItems(value, itemOf(field), itemType(field)),
    toCanonical: (value, field) => {
      const type = itemType(field);
      const toCanonical = type.toCanonical?.bind(type);
      return Array.isArray(value) && toCanonical !== undefined ? value.map((item: Json) => toCanonical(item, itemOf(field))) : value;
    },
    toColumn: (value) => (Array.isArray(value) ? JSON.stringify(value) : undefined),
    fromColumn: (stored) => (typeof stored === 'string' ? (JSON.parse(stored) as Json) : (stored as Json)),
  } satisfies FieldType);
}

function itemOf(field: Field): Field {
  if (field.of === undefined) throw new Error(`list ${field.name} has no item`);
  return field.of;
}

function checkItems(value: Json, item: Field, type: FieldType): string | undefined {
  if (!Array.isArray(value)) return 'expected a list';
  for (const [index, one] of value.entries()) {
    const wrong = type.checkValue?.(one as Json, item);
    if (wrong !== undefined) return `item ${index}: ${wrong}`;
  }
  return undefined;
}

function checkList(field: Field, itemTypes: ReadonlyMap<string, FieldType>): { option: string; detail: string }[] {
  const mistakes: { option: string; detail: string }[] = [];
  const longest = field.maxLength ?? USUAL;
  if (longest > MOST) mistakes.push({ option: 'maxLength', detail: `expected at most ${MOST} items, given ${longest}` });
  if (field.minLength !== undefined && field.minLength > longest) {
    mistakes.push({ option: 'minLength', detail: `expected at most maxLength, which is ${longest}, given ${field.minLength}` });
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
