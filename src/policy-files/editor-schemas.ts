/** The JSON Schemas (2020-12) of policy files and test files, for editors. They are made from the schemas that the files are validated with. */
import { POLICY_IN_FILE } from '../authz/policies/index.ts';
import { isObject, type Json, type JsonObject } from '../operators/index.ts';
import { toSchemaId } from '../resources/index.ts';
import { componentName, INTERNAL_KEYWORDS } from '../schemas/index.ts';
import { POLICY_TEST_FILE } from './policy-test-schema.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** The schema that refers to itself. */
const RECURSIVE = 'admin.Condition';

/** Returns the schema of policy files: one policy, or a list `policies`. */
export function policyFileSchema(): JsonObject {
  const { definitions, schema: policy } = toEditorSchema(policySchema());
  return {
    $schema: DIALECT,
    $id: toSchemaId('policy.schema.json'),
    title: 'Bailiwick policies',
    description: 'One policy, or several in a list `policies`.',
    anyOf: [
      { $ref: '#/$defs/Policy' },
      {
        type: 'object',
        properties: { policies: { type: 'array', items: { $ref: '#/$defs/Policy' } } },
        required: ['policies'],
        additionalProperties: false,
      },
    ],
    $defs: { Policy: policy, ...definitions },
  };
}

/** Returns the schema of test files. */
export function policyTestSchema(): JsonObject {
  const { schema } = toEditorSchema(POLICY_TEST_FILE as unknown as JsonObject);
  return { $schema: DIALECT, $id: toSchemaId('policy-test.schema.json'), title: 'Bailiwick policy tests', ...schema };
}

/** Returns the schema of a policy without the members that the service sets. */
function policySchema(): JsonObject {
  const { rules, ...members } = POLICY_IN_FILE.properties as unknown as Readonly<Record<string, JsonObject>>;
  const rule = POLICY_IN_FILE.properties.rules.items as unknown as { readonly properties: JsonObject };
  const items = { ...rule, properties: withoutReadOnly(rule.properties) };
  return { ...(POLICY_IN_FILE as unknown as JsonObject), properties: { ...withoutReadOnly(members), rules: { ...rules, items } } };
}

function withoutReadOnly(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => !(isObject(member) && member['readOnly'] === true)));
}

interface EditorSchema {
  readonly schema: JsonObject;
  /** The schemas that others refer to, by name. */
  readonly definitions: Readonly<Record<string, Json>>;
}

/** Returns a schema without the keywords of this program. The schema that refers to itself becomes a definition. */
function toEditorSchema(root: JsonObject): EditorSchema {
  const definitions: Record<string, Json> = {};
  const convert = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(convert);
    if (!isObject(value)) return value;
    if (value['$ref'] === `#/components/schemas/${RECURSIVE}`) return { $ref: '#/$defs/Condition' };
    if (componentName(value) !== RECURSIVE) return convertMembers(value);
    definitions['Condition'] ??= convertMembers(value);
    return { $ref: '#/$defs/Condition' };
  };
  const convertMembers = (schema: JsonObject): JsonObject => {
    const members = Object.entries(schema).filter(([name, value]) => !INTERNAL_KEYWORDS.includes(name) && !isOwnFormat(name, value));
    return Object.fromEntries(members.map(([name, value]) => [name, convert(value)]));
  };
  return { schema: convertMembers(root), definitions };
}

/** Returns true for a format that only this program knows. */
function isOwnFormat(name: string, value: Json): boolean {
  return name === 'format' && value !== 'date-time';
}
