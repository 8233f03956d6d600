import { describe, expect, it } from 'vitest';
import { POLICY_CHANGE, POLICY_IMPORT, POLICY_INPUT, ROLE_ASSIGNMENT, USER_ASSIGNMENT } from '../authz/policies/index.ts';
import { toRequestLimits } from '../component-options.ts';
import { parseConfig } from '../config/config.ts';
import { isObject, type Json, type JsonObject } from '../operators/index.ts';
import { exportQuerySchema, IMPORT_QUERY, READ_QUERY } from '../request/record-schemas.ts';
import { requestSchemas } from '../request/request-schemas.ts';
import { DESCRIBED_ONLY } from '../validation/index.ts';
import { authEndpoints } from './accounts/auth-endpoints.ts';
import { adminEndpoints } from './admin-routes.ts';

/** Returns the parts of a schema that accept a value of any size. The parts that only describe a value are left out: code limits them. */
function findUnbounded(schema: Json | undefined, at: string): readonly string[] {
  if (schema === true) return [`${at}: any value`];
  if (!isObject(schema) || schema[DESCRIBED_ONLY] === true) return [];
  const { properties = {}, items, additionalProperties, anyOf, oneOf, allOf } = schema;
  const unions = [anyOf ?? [], oneOf ?? [], allOf ?? []].flat() as readonly Json[];
  return [
    ...findOwnMistakes(schema).map((mistake) => `${at}: ${mistake}`),
    ...Object.entries(properties as JsonObject).flatMap(([name, part]) => findUnbounded(part as Json, `${at}.${name}`)),
    ...findUnbounded(items, `${at}[]`),
    ...findUnbounded(additionalProperties === true ? undefined : additionalProperties, `${at}.*`),
    ...unions.flatMap((part) => findUnbounded(part, at)),
  ];
}

const FINITE = ['null', 'boolean', 'integer', 'number'];

function findOwnMistakes({ type, anyOf, oneOf, allOf, ...schema }: JsonObject): readonly string[] {
  if (schema['enum'] !== undefined || schema['const'] !== undefined) return [];
  const types = [type ?? []].flat() as readonly string[];
  if (types.length === 0) return anyOf === undefined && oneOf === undefined && allOf === undefined ? ['any value'] : [];
  return types.flatMap((each) => {
    if (FINITE.includes(each)) return [];
    if (each === 'string') return schema['maxLength'] === undefined ? ['a text without maxLength'] : [];
    if (each === 'array') return schema['maxItems'] === undefined ? ['a list without maxItems'] : [];
    return isBoundedObject(schema) ? [] : ['an object without maxProperties'];
  });
}

/** Returns true for an object with known or few members, and for one whose description states the maximum length of its JSON. */
function isBoundedObject({ additionalProperties, maxProperties, description }: JsonObject): boolean {
  return additionalProperties === false || maxProperties !== undefined || /At most \d+ characters/.test(String(description));
}

const limits = toRequestLimits(parseConfig({ flags: {}, env: {} }));
const { listQuery, importBody, batchBody, actionBodies } = requestSchemas(limits);

const SCHEMAS: readonly (readonly [name: string, schema: object])[] = [
  ...[...authEndpoints({ hasSetup: true }), ...adminEndpoints].flatMap(({ id, params, query, body }) =>
    Object.entries({ params, query, body }).flatMap(([part, schema]) => (schema === undefined ? [] : [[`${id} ${part}`, schema] as const])),
  ),
  // Endpoints only describe these bodies, because their parsers validate them with these schemas.
  ...Object.entries({ POLICY_INPUT, POLICY_CHANGE, POLICY_IMPORT, USER_ASSIGNMENT, ROLE_ASSIGNMENT }),
  ...Object.entries({ listQuery, importBody, batchBody, READ_QUERY, IMPORT_QUERY, exportQuery: exportQuerySchema(['csv']) }),
  ...[...actionBodies].map(([action, schema]) => [`the action ${action}`, schema] as const),
];

/** The values of a record. Their definition limits their members, and the requests that contain them have a maximum of bytes. */
const RECORD_VALUES: readonly string[] = ['the action create.data', 'the action update.data', 'the action createIfNotExists.data']
  .concat(['the action updateIfExists.data', 'the action import.data[]', 'importBody.data[]'])
  .map((at) => `${at}: an object without maxProperties`);

describe('the schemas of requests', () => {
  it.each(SCHEMAS)('the schema of %s limits the size of every part', (name, schema) => {
    expect(findUnbounded(schema as JsonObject, name).filter((found) => !RECORD_VALUES.includes(found))).toEqual([]);
  });

  it('only the values of records have no limit of their own', () => {
    const found = SCHEMAS.flatMap(([name, schema]) => findUnbounded(schema as JsonObject, name));
    expect(found.toSorted()).toEqual(RECORD_VALUES.toSorted());
  });

  it.each<[JsonObject, readonly string[]]>([
    [{ type: 'string' }, ['x: a text without maxLength']],
    [{ type: 'string', format: 'line' }, ['x: a text without maxLength']],
    [{ type: ['string', 'null'] }, ['x: a text without maxLength']],
    [{ type: 'array', items: { type: 'integer' } }, ['x: a list without maxItems']],
    [{ type: 'array', items: { type: 'string' }, maxItems: 5 }, ['x[]: a text without maxLength']],
    [{ type: 'object' }, ['x: an object without maxProperties']],
    [{ type: 'object', additionalProperties: true, description: 'Anything.' }, ['x: an object without maxProperties']],
    [{ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }, ['x.a: a text without maxLength']],
    [{ type: 'object', additionalProperties: { type: 'array' }, maxProperties: 5 }, ['x.*: a list without maxItems']],
    [{ anyOf: [{ type: 'null' }, { type: 'array', items: { type: 'integer' } }] }, ['x: a list without maxItems']],
    [{ oneOf: [{ type: 'object', additionalProperties: { type: 'string', maxLength: 5 } }] }, ['x: an object without maxProperties']],
    [{ description: 'Any value.' }, ['x: any value']],
  ])('a schema without a limit is found: %j', (schema, found) => {
    expect(findUnbounded(schema, 'x')).toEqual(found);
  });
});
