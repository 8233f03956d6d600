/** Every field type and field option, with values that it accepts and rejects. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { startService } from '../harness.ts';
import { checkScenarios, type Scenario, type ScenarioContext } from './scenario.ts';

// The tests of this file build on each other.
const it = createChain();

const TYPES = `
name: Sample
fields:
  string:    { type: string }
  text:      { type: text }
  integer:   { type: integer }
  number:    { type: number }
  decimal:   { type: decimal, scale: 2 }
  wide:      { type: decimal, scale: 6 }
  boolean:   { type: boolean }
  date:      { type: date }
  timestamp: { type: timestamp }
  enum:      { type: enum, values: [draft, published] }
  email:     { type: email }
  url:       { type: url }
  uuid:      { type: uuid }
  reference: { type: reference, to: User }
  list:      { type: list, of: string }
  enums:     { type: list, of: { type: enum, values: [a, b] } }
  users:     { type: list, of: { type: reference, to: User } }
  decimals:  { type: list, of: { type: decimal, scale: 1 } }
  times:     { type: list, of: timestamp }
  json:      { type: json }
  password:  { type: password }
`;

const OPTIONS = `
name: Bounded
fields:
  title:     { type: string, required: true, minLength: 2, maxLength: 4 }
  code:      { type: string, pattern: "^[a-z]+$", unique: true }
  status:    { type: enum, values: [draft, published], default: draft }
  count:     { type: integer, min: 1, max: 9, default: 5 }
  price:     { type: decimal, min: "0.50", max: "99.99" }
  day:       { type: date, min: "2026-01-01", max: "2026-12-31" }
  at:        { type: timestamp, min: "2026-01-01T00:00:00Z" }
  tags:      { type: list, of: { type: string, maxLength: 3 }, minLength: 1, maxLength: 2 }
  kind:      { type: string, immutable: true }
  checked:   { type: boolean, readOnly: true, default: false }
  secret:    { type: string, writeOnly: true }
  pin:       { type: password, minLength: 10 }
  body:      { type: text, pattern: "^[^<>]*$" }
`;

const PARENT = 'name: Parent\nfields: { name: { type: string } }';
const CHILD = `
name: Child
fields:
  keeps: { type: reference, to: Parent }
  goes:  { type: reference, to: Parent, onDelete: cascade }
  loses: { type: reference, to: Parent, onDelete: setNull }
`;

let stage: ScenarioContext;
beforeAll(async () => {
  const service = await startService({
    definitions: { 'Sample.yaml': TYPES, 'Bounded.yaml': OPTIONS, 'Parent.yaml': PARENT, 'Child.yaml': CHILD },
  });
  const admin = await service.admin();
  const user = await service.user();
  await service.createPolicy({ role: 'user', rules: [{ resource: '*', action: '*' }] });
  stage = {
    service,
    tokens: new Map([
      ['admin', admin.token],
      ['user', user.token],
    ]),
    kept: new Map([
      ['admin', admin.id],
      ['user', user.id],
    ]),
  };
});
afterAll(() => stage.service.close());

const UUID = '018F4E6A-1C2B-7D3E-8F40-5A6B7C8D9E0F';
const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';

/** Accepted values: the field, the sent value, and the returned value. */
const ACCEPTED: readonly (readonly [field: string, sent: unknown, returned: unknown])[] = [
  ['string', '', ''],
  ['string', "Robert'); drop table Sample;--", "Robert'); drop table Sample;--"],
  ['string', 'ünïcödé 😀 %_*', 'ünïcödé 😀 %_*'],
  ['string', 'x'.repeat(1000), 'x'.repeat(1000)],
  ['text', 'two\nlines', 'two\nlines'],
  ['integer', 0, 0],
  ['integer', -7, -7],
  ['integer', 9007199254740991, 9007199254740991],
  ['number', 0.1, 0.1],
  ['number', -1e300, -1e300],
  ['decimal', '12.30', '12.30'],
  ['decimal', 12.3, '12.30'],
  ['decimal', '0.1', '0.10'],
  ['decimal', -0.05, '-0.05'],
  ['decimal', '9999999999999999.99', '9999999999999999.99'],
  ['wide', '0.000001', '0.000001'],
  ['boolean', false, false],
  ['boolean', true, true],
  ['date', '2028-02-29', '2028-02-29'],
  ['timestamp', '2026-01-31T09:00:00Z', '2026-01-31T09:00:00.000Z'],
  ['timestamp', '2026-01-31T09:00:00+02:00', '2026-01-31T07:00:00.000Z'],
  ['timestamp', '2026-01-31T23:30:00.25-05:30', '2026-02-01T05:00:00.250Z'],
  ['enum', 'published', 'published'],
  ['email', 'Ada@Example.ORG', 'ada@example.org'],
  ['url', 'https://example.org/a?b=c#d', 'https://example.org/a?b=c#d'],
  ['uuid', UUID, UUID.toLowerCase()],
  ['reference', '{user}', '{user}'],
  ['list', [], []],
  ['list', ['a', 'a', ''], ['a', 'a', '']],
  ['enums', ['b', 'a'], ['b', 'a']],
  ['users', ['{user}', '{admin}'], ['{user}', '{admin}']],
  ['decimals', [1, '2.5'], ['1.0', '2.5']],
  ['times', ['2026-01-31T09:00:00+02:00'], ['2026-01-31T07:00:00.000Z']],
  ['json', { deep: [1, { null: null }], 'a.b': 'c' }, { deep: [1, { null: null }], 'a.b': 'c' }],
  ['json', false, false],
  ['json', 'text', 'text'],
];

/** Rejected values: the field, the sent value, the code of the mistake, and its path. */
const REJECTED: readonly (readonly [field: string, sent: unknown, code: string, path?: string])[] = [
  ['string', 7, 'type'],
  ['string', true, 'type'],
  ['string', ['a'], 'type'],
  ['string', { $ne: null }, 'type'],
  ['string', 'x'.repeat(1001), 'tooLong'],
  ['string', 'a\u0000b', 'characters'],
  ['text', 7, 'type'],
  ['text', 'x'.repeat(100_001), 'tooLong'],
  ['integer', '7', 'type'],
  ['integer', 7.5, 'type'],
  ['integer', 9007199254740992, 'range'],
  ['number', '7', 'type'],
  ['number', true, 'type'],
  ['decimal', '12.345', 'format'],
  ['decimal', 'twelve', 'format'],
  ['decimal', '1e3', 'format'],
  ['decimal', '10000000000000000.00', 'format'],
  ['decimal', true, 'type'],
  ['boolean', 'true', 'type'],
  ['boolean', 1, 'type'],
  ['date', '2026-02-30', 'format'],
  ['date', '2026-01-31T09:00:00Z', 'format'],
  ['date', '31.01.2026', 'format'],
  ['date', 20260131, 'type'],
  ['timestamp', '2026-01-31', 'format'],
  ['timestamp', '2026-01-31T09:00:00', 'format'],
  ['timestamp', '2026-01-31T25:00:00Z', 'format'],
  ['timestamp', 1769850000000, 'type'],
  ['enum', 'drft', 'enum'],
  ['enum', 'Draft', 'enum'],
  ['enum', 0, 'type'],
  ['email', 'ada', 'format'],
  ['email', 'ada@localhost', 'format'],
  ['email', 'a b@example.org', 'format'],
  ['url', 'javascript:alert(1)', 'format'],
  ['url', 'example.org', 'format'],
  ['uuid', '018f4e6a', 'format'],
  ['reference', 'nobody', 'format'],
  ['reference', UNKNOWN_ID, 'reference'],
  ['list', 'a', 'type'],
  ['list', { 0: 'a', length: 1 }, 'type'],
  ['list', ['a', 7], 'type', 'list.1'],
  ['list', [null], 'type', 'list.0'],
  ['enums', ['a', 'c'], 'enum', 'enums.1'],
  ['users', ['{user}', UNKNOWN_ID], 'reference', 'users.1'],
  ['decimals', ['1.25'], 'format'],
  ['times', ['yesterday'], 'format'],
  ['password', 'short', 'tooShort'],
  ['password', 12345678, 'type'],
];

const titleOf = (field: string, sent: unknown): string => `${field}: ${String(JSON.stringify(sent)).slice(0, 60)}`;
const created = { action: 'create', allowed: true };
const rejected = { action: 'create', allowed: true, outcome: 'VALUE_INVALID' };

describe('a valid value', () => {
  checkScenarios(
    () => stage,
    ACCEPTED.map(([field, sent, returned]): Scenario => {
      return {
        name: `stores a valid value of ${titleOf(field, sent)}`,
        as: 'user',
        send: 'POST /api/Sample',
        body: { [field]: sent },
        status: 201,
        body_has: { data: { [field]: returned } },
        entries: [created],
      };
    }),
    it,
  );

  it('returns valid values in canonical form in a list, too', async () => {
    const { service, tokens } = stage;
    const token = tokens.get('user');
    const { data } = (await service.call('GET', '/api/Sample?sort=id&limit=1000', { token })).body as { data: Record<string, unknown>[] };
    const fill = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value).replace(/\{(user|admin)\}/g, (_, name: string) => String(stage.kept.get(name))));
    expect(data.map((record, index) => record[ACCEPTED[index]?.[0] ?? ''])).toEqual(ACCEPTED.map(([, , returned]) => fill(returned)));
  });
});

describe('an invalid value', () => {
  checkScenarios(
    () => stage,
    REJECTED.map(([field, sent, code, path = field]): Scenario => {
      return {
        name: `rejects an invalid value of ${titleOf(field, sent)}`,
        as: 'user',
        send: 'POST /api/Sample',
        body: { [field]: sent },
        status: 422,
        body_has: { code: 'VALUE_INVALID', errors: [{ path, code }] },
        entries: [rejected],
      };
    }),
    it,
  );
});

describe('null', () => {
  checkScenarios(
    () => stage,
    [
      {
        name: 'accepts null on create as a missing value',
        as: 'user',
        send: 'POST /api/Sample',
        body: { string: null, integer: 1 },
        status: 201,
        body_has: { data: { string: null, integer: 1 } },
        keep: { sample: 'data.id' },
        entries: [created],
      },
      {
        name: 'clears a field that an update sets to null, and keeps the values of other fields',
        as: 'user',
        send: 'PUT /api/Sample/{sample}',
        body: { integer: null, string: 'x' },
        status: 200,
        body_has: { data: { string: 'x', integer: null, version: 2 } },
        entries: [{ action: 'update' }],
      },
      {
        name: 'rejects null for a required field',
        as: 'user',
        send: 'POST /api/Bounded',
        body: { title: null },
        status: 422,
        body_has: { errors: [{ path: 'title', code: 'required' }] },
        entries: [rejected],
      },
    ],
    it,
  );
});

/** Data for a Bounded, with the returned members, or the path and code of the mistake. */
const BOUNDS: readonly (readonly [name: string, data: object, returned: object | undefined, mistake?: readonly [string, string]])[] = [
  ['required rejects a missing value', {}, undefined, ['title', 'required']],
  ['minLength rejects a shorter string', { title: 'a' }, undefined, ['title', 'tooShort']],
  ['maxLength counts characters, not UTF-16 code units', { title: '😀😀😀😀' }, { title: '😀😀😀😀' }],
  ['maxLength rejects a longer string', { title: 'abcde' }, undefined, ['title', 'tooLong']],
  ['default sets a missing value', { title: 'ab' }, { status: 'draft', count: 5, checked: false }],
  ['pattern rejects a string that does not match', { title: 'ab', code: 'A1' }, undefined, ['code', 'pattern']],
  ['pattern rejects a text that is too long to be matched', { title: 'ab', body: 'x'.repeat(90_000) }, undefined, ['body', 'tooLong']],
  ['min rejects a smaller integer', { title: 'ab', count: 0 }, undefined, ['count', 'range']],
  ['max rejects a larger integer', { title: 'ab', count: 10 }, undefined, ['count', 'range']],
  ['min rejects a decimal that is 0.01 smaller', { title: 'ab', price: '0.49' }, undefined, ['price', 'range']],
  ['max accepts an equal decimal', { title: 'ab', price: '99.99' }, { price: '99.99' }],
  ['min rejects an earlier date', { title: 'ab', day: '2025-12-31' }, undefined, ['day', 'range']],
  ['max accepts an equal date', { title: 'ab', day: '2026-12-31' }, { day: '2026-12-31' }],
  ['min considers the offset of a timestamp', { title: 'ab', at: '2026-01-01T01:00:00+02:00' }, undefined, ['at', 'range']],
  ['minLength rejects a shorter list', { title: 'ab', tags: [] }, undefined, ['tags', 'tooFew']],
  ['maxLength rejects a longer list', { title: 'ab', tags: ['a', 'b', 'c'] }, undefined, ['tags', 'tooMany']],
  ['maxLength applies to the items of a list', { title: 'ab', tags: ['abcd'] }, undefined, ['tags.0', 'tooLong']],
  ['readOnly rejects a value', { title: 'ab', checked: true }, undefined, ['checked', 'readOnly']],
  ['a value for id is rejected', { title: 'ab', id: UUID }, undefined, ['id', 'readOnly']],
  ['a value for createdBy is rejected', { title: 'ab', createdBy: '{user}' }, undefined, ['createdBy', 'readOnly']],
  ['a value for createdAt is rejected', { title: 'ab', createdAt: '2026-01-31T09:00:00Z' }, undefined, ['createdAt', 'readOnly']],
  ['a value for version is rejected', { title: 'ab', version: 7 }, undefined, ['version', 'readOnly']],
  ['a value for an unknown field is rejected', { title: 'ab', statsu: 'draft' }, undefined, ['statsu', 'unknown']],
  ['minLength applies to a password', { title: 'ab', pin: '123456789' }, undefined, ['pin', 'tooShort']],
];

describe('the options of a field', () => {
  checkScenarios(
    () => stage,
    BOUNDS.map(([name, body, returned, mistake]): Scenario => {
      const outcome = mistake === undefined ? { data: returned } : { errors: [{ path: mistake[0], code: mistake[1] }] };
      return {
        name,
        as: 'user',
        send: 'POST /api/Bounded',
        body,
        status: mistake === undefined ? 201 : 422,
        body_has: outcome,
        entries: [mistake === undefined ? created : rejected],
      };
    }),
    it,
  );

  checkScenarios(
    () => stage,
    [
      {
        name: 'writeOnly fields and passwords are accepted and never returned',
        as: 'user',
        send: 'POST /api/Bounded',
        body: { title: 'ab', code: 'one', kind: 'a', secret: 'hush', pin: '1234567890' },
        status: 201,
        body_lacks: ['data.secret', 'data.pin'],
        keep: { bounded: 'data.id' },
        entries: [created],
      },
      {
        name: 'unique rejects a value that another record has',
        as: 'user',
        send: 'POST /api/Bounded',
        body: { title: 'ab', code: 'one' },
        status: 409,
        body_has: { code: 'RECORD_EXISTS', errors: [{ path: 'code', code: 'taken' }] },
        entries: [{ ...created, outcome: 'RECORD_EXISTS' }],
      },
      {
        name: 'unique accepts several records without a value',
        as: 'user',
        send: 'POST /api/Bounded',
        body: { title: 'ab' },
        status: 201,
        body_has: { data: { code: null } },
        entries: [created],
      },
      {
        name: 'immutable rejects a change, even to the same value',
        as: 'user',
        send: 'PUT /api/Bounded/{bounded}',
        body: { kind: 'a' },
        status: 422,
        body_has: { errors: [{ path: 'kind', code: 'immutable' }] },
        entries: [{ action: 'update', allowed: true, outcome: 'VALUE_INVALID' }],
      },
      {
        name: 'immutable rejects null',
        as: 'user',
        send: 'PUT /api/Bounded/{bounded}',
        body: { kind: null },
        status: 422,
        entries: [{ action: 'update', outcome: 'VALUE_INVALID' }],
      },
      {
        name: 'reports all mistakes of a record at once, each with its path',
        as: 'user',
        send: 'PUT /api/Bounded/{bounded}',
        body: { title: 'a', count: 'x', status: 'drft', checked: true, nothing: 1 },
        status: 422,
        body_has: {
          code: 'VALUE_INVALID',
          errors: [{ path: 'checked' }, { path: 'nothing' }, { path: 'title' }, { path: 'status' }, { path: 'count' }],
        },
        entries: [{ action: 'update', outcome: 'VALUE_INVALID' }],
      },
      {
        name: 'returns the schema of a resource',
        as: 'user',
        send: 'GET /api/Bounded/schema',
        status: 200,
        body_has: { data: { name: 'Bounded' } },
        entries: [{ resource: 'Bounded', action: 'read', allowed: true }],
      },
    ],
    it,
  );
});

describe('onDelete', () => {
  const deleted = (parent: string, status: number, entries: readonly object[]): Scenario => ({
    name: `deleting the parent ${parent} returns ${status}`,
    as: 'admin',
    send: `DELETE /api/Parent/{${parent}}`,
    status,
    entries,
  });
  checkScenarios(
    () => stage,
    [
      ...['kept', 'gone', 'lost'].map((name): Scenario => {
        return {
          name: `the parent ${name} is created`,
          as: 'admin',
          send: 'POST /api/Parent',
          body: { name },
          status: 201,
          keep: { [name]: 'data.id' },
          entries: [created],
        };
      }),
      {
        name: 'a child with restrict is created',
        as: 'admin',
        send: 'POST /api/Child',
        body: { keeps: '{kept}' },
        status: 201,
        keep: { keeper: 'data.id' },
        entries: [created],
      },
      {
        name: 'a child with cascade is created',
        as: 'admin',
        send: 'POST /api/Child',
        body: { goes: '{gone}' },
        status: 201,
        keep: { goer: 'data.id' },
        entries: [created],
      },
      {
        name: 'a child with setNull is created',
        as: 'admin',
        send: 'POST /api/Child',
        body: { loses: '{lost}' },
        status: 201,
        keep: { loser: 'data.id' },
        entries: [created],
      },
      deleted('kept', 409, [{ action: 'delete', allowed: true, outcome: 'RECORD_REFERENCED' }]),
      deleted('gone', 200, [
        { resource: 'Parent', action: 'delete', recordId: '{gone}' },
        { resource: 'Child', action: 'delete', recordId: '{goer}' },
      ]),
      deleted('lost', 200, [{ resource: 'Parent', action: 'delete' }]),
      {
        name: 'restrict keeps the child',
        as: 'admin',
        send: 'GET /api/Child/{keeper}',
        status: 200,
        body_has: { data: { keeps: '{kept}' } },
        entries: [{ action: 'read' }],
      },
      {
        name: 'cascade deletes the child',
        as: 'admin',
        send: 'GET /api/Child/{goer}',
        status: 404,
        entries: [{ action: 'read', outcome: 'RECORD_UNKNOWN' }],
      },
      {
        name: 'setNull clears the reference',
        as: 'admin',
        send: 'GET /api/Child/{loser}',
        status: 200,
        body_has: { data: { loses: null } },
        entries: [{ action: 'read' }],
      },
    ],
    it,
  );
});
