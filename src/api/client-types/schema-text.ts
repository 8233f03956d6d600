/** TypeScript types of JSON Schemas. */
import { isObject, type Json, type JsonObject } from '../../operators/index.ts';
import { componentName } from '../../schemas/index.ts';

/** The named types that a file declares: by component, the name and the text of its type. */
export interface TypeDeclarations {
  /** Returns the name of a component's type, and declares it at the first call. */
  nameOf(component: string, schema: JsonObject): string;
}

/**
 * Returns the type of the values that match a schema. A component becomes the name that `declarations` gives it. Keywords that types cannot express,
 * such as `pattern`, are left out: a type may accept more values than its schema, never fewer.
 */
export function toTypeText(schema: JsonObject, declarations: TypeDeclarations): string {
  const component = componentName(schema);
  if (component !== undefined) return declarations.nameOf(component, schema);
  return toInlineType(schema, declarations);
}

/** Returns the type of a schema in full, also of a component. */
export function toInlineType(schema: JsonObject, declarations: TypeDeclarations): string {
  const { const: only, enum: values, anyOf, oneOf, type } = schema;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(values)) return union(values.map((value) => JSON.stringify(value)));
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives)) return union(alternatives.map((each) => toTypeText(each as JsonObject, declarations)));
  if (Array.isArray(type)) return union(type.map((each: Json) => toInlineType({ ...schema, type: each }, declarations)));
  switch (type) {
    case 'object':
      return toObjectType(schema, declarations);
    case 'array':
      return toArrayType(schema, declarations);
    case 'integer':
      return 'number';
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return type;
    default:
      return 'unknown';
  }
}

function toObjectType({ properties, required, additionalProperties }: JsonObject, declarations: TypeDeclarations): string {
  const isRequired = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(isObject(properties) ? properties : {}).map(([name, value]) => {
    const member = value as JsonObject;
    const comment = componentName(member) === undefined ? toComment(member) : '';
    return `${comment}readonly ${toMemberName(name)}${isRequired.has(name) ? '' : '?'}: ${toTypeText(member, declarations)};\n`;
  });
  if (isObject(additionalProperties)) members.push(`readonly [name: string]: ${toTypeText(additionalProperties, declarations)};\n`);
  else if (additionalProperties === true || (members.length === 0 && additionalProperties !== false))
    members.push('readonly [name: string]: unknown;\n');
  return `{\n${indent(members.join(''))}}`;
}

function toArrayType({ prefixItems, items }: JsonObject, declarations: TypeDeclarations): string {
  if (Array.isArray(prefixItems)) return `readonly [${prefixItems.map((each) => toTypeText(each as JsonObject, declarations)).join(', ')}]`;
  const item = isObject(items) ? toTypeText(items, declarations) : 'unknown';
  return `readonly ${/[ |]/.test(item) ? `(${item})` : item}[]`;
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  return distinct.includes('unknown') ? 'unknown' : distinct.join(' | ') || 'never';
}

/** Returns the description of a schema as a comment with its line break; '' without one. */
export function toComment({ description }: JsonObject): string {
  if (typeof description !== 'string' || description.trim() === '') return '';
  const lines = description.split(/[\r\n\u2028\u2029]/).map((line) => line.trim());
  return `/** ${lines
    .filter((line) => line !== '')
    .join(' ')
    .replaceAll('*/', '* /')} */\n`;
}

/** Returns a member name, quoted where necessary. */
export function toMemberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** Indents the lines of a text by two spaces. */
export function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
