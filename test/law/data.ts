/** Definitions, rows and users of the law fixture, as plain data. */
import { isObject, type Json, type JsonObject } from '../../src/operators/index.ts';
import { ALL_COLUMNS, DOCUMENTS } from '../conformance/hostile-table.ts';
import type { PathKind } from '../reference/reference-facts.ts';

/** Rows of the resource. */
export const ROWS = 150;

/** A field of the resource: its definition, its kind of comparison, and the values of its rows. */
interface ThingField {
  readonly name: string;
  readonly definition: JsonObject;
  readonly kind: PathKind;
  readonly values: readonly Json[];
}

const FIELDS: readonly ThingField[] = [
  ...ALL_COLUMNS.map(({ name, type, kind, field, values }): ThingField => {
    const options = { ...(field.of !== undefined && { of: field.of.type }), ...(field.scale !== undefined && { scale: field.scale }) };
    return {
      name,
      definition: { type, ...options },
      kind: kind.itemKind === undefined ? kind.kind : `list of ${kind.itemKind}`,
      // The type string has a shorter maximum than text.
      values: type === 'string' ? values.filter((value) => String(value).length <= 200) : values,
    };
  }),
  { name: 'label', definition: { type: 'string', index: true }, kind: 'text', values: ['a', 'A', '', '10', 'é', 'u-ann', '%'] },
  {
    name: 'status',
    definition: { type: 'enum', values: ['draft', 'published', 'Draft'], index: true },
    kind: 'text',
    values: ['draft', 'published', 'Draft'],
  },
  { name: 'mail', definition: { type: 'email', index: true }, kind: 'text', values: ['ann@example.org', 'bob@example.com'] },
  { name: 'link', definition: { type: 'url', index: true }, kind: 'text', values: ['https://example.org/', 'https://example.org/a%20b'] },
  {
    name: 'token',
    definition: { type: 'uuid', index: true },
    kind: 'text',
    values: ['01890a5d-ac96-774b-bcce-b302099a8057', '00000000-0000-4000-8000-000000000000'],
  },
  // `u-gone` does not exist; `u-cid` has no values.
  {
    name: 'ownerId',
    definition: { type: 'reference', to: 'User' },
    kind: 'text',
    values: ['u-ann', 'u-bob', 'u-cid', 'u-dan', 'u-eve', 'u-gone'],
  },
  {
    name: 'parentId',
    definition: { type: 'reference', to: 'Thing' },
    kind: 'text',
    values: Array.from({ length: 40 }, (_, index) => `t-${String(index * 3).padStart(3, '0')}`),
  },
  // Of the values of the lists, some lead to no record, and one has more items than conditions read.
  {
    name: 'friendIds',
    definition: { type: 'list', of: { type: 'reference', to: 'User' } },
    kind: 'list of text',
    values: [['u-ann', 'u-bob'], [], ['u-gone'], ['u-eve', 'u-gone'], ['u-dan'], ['u-cid', 'u-ann', 'u-ann'], ['u-bob'], ['u-eve']],
  },
  {
    name: 'partIds',
    definition: { type: 'list', of: { type: 'reference', to: 'Thing' } },
    kind: 'list of text',
    values: [
      ...[['t-003'], [], ['t-036', 't-006'], ['t-gone'], ['t-012', 't-015', 't-018'], ['t-110']],
      ...[['t-021', 't-024'], ['t-045', 't-gone'], Array.from({ length: 26 }, (_, index) => `t-${String(index * 4).padStart(3, '0')}`)],
      ...[
        ['t-060', 't-061'],
        ['t-120', 't-121', 't-122', 't-123'],
      ],
    ],
  },
];

/** The field of the hierarchy of things, whose values `UP` gives. */
const UP_FIELD: ThingField = {
  name: 'upId',
  definition: { type: 'reference', to: 'Thing', hierarchy: true },
  kind: 'text',
  values: ['t-060', 't-061', 't-075', 't-098', 't-100', 't-109', 't-115', 't-120', 't-123', 't-130', 't-110', 't-gone'],
};

/** Soft-deleted rows: references to them lead to no record. */
const DELETED: ReadonlySet<number> = new Set([9, 36, 110]);

/**
 * Returns the row above a row: a chain of 40 levels from row 60, a chain from row 100 that a deleted row breaks, a tree from row 120, a cycle from
 * row 130, and rows below any of them, or below a row that does not exist. Undefined for a row without one.
 */
function rowAbove(row: number): number | undefined {
  if (row < 60) return row % 7 === 0 ? undefined : row % 11 === 0 ? 999 : 60 + ((row * 13) % 90);
  if (row < 100) return row === 60 ? undefined : row - 1;
  if (row < 120) return row === 100 ? undefined : row - 1;
  if (row < 130) return row === 120 ? undefined : 120 + Math.floor((row - 121) / 2);
  return row < 136 ? 130 + ((row - 129) % 6) : 140 - (row % 3) * 20;
}

const USER_FIELDS: readonly ThingField[] = [
  { name: 'department', definition: { type: 'text' }, kind: 'text', values: ['a', 'AB', '', '%'] },
  { name: 'level', definition: { type: 'integer' }, kind: 'number', values: [10, -1, Number.MAX_SAFE_INTEGER, 0] },
  { name: 'fee', definition: { type: 'decimal' }, kind: 'decimal', values: ['12.30', '-0.10', '9999999999999999.99'] },
  { name: 'teams', definition: { type: 'list', of: 'string' }, kind: 'list of text', values: [['a', 'b'], [], ['%', '😀']] },
  {
    name: 'seenAt',
    definition: { type: 'timestamp' },
    kind: 'timestamp',
    values: ['2026-01-31T11:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  },
  { name: 'born', definition: { type: 'date' }, kind: 'date', values: ['2026-01-31', '1969-12-31'] },
  { name: 'profile', definition: { type: 'json' }, kind: 'json', values: [{ a: 1 }, ['a', null], null, 'a', 10] },
  {
    name: 'managerId',
    // With an index, one search in a statement finds the users of a manager.
    definition: { type: 'reference', to: 'User', hierarchy: true, index: true },
    kind: 'text',
    values: ['u-bob', 'u-cid', 'u-gone'],
  },
  {
    name: 'mentorIds',
    definition: { type: 'list', of: { type: 'reference', to: 'User' } },
    kind: 'list of text',
    values: [['u-bob', 'u-eve'], ['u-ann', 'u-gone'], []],
  },
  { name: 'isActive', definition: { type: 'boolean' }, kind: 'boolean', values: [true, false] },
  { name: 'role', definition: { type: 'enum' }, kind: 'text', values: ['user', 'editor', 'admin'] },
];
const BUILT_IN = ['isActive', 'role'];

export const THING: JsonObject = {
  name: 'Thing',
  softDelete: true,
  fields: {
    ...Object.fromEntries([...FIELDS, UP_FIELD].map(({ name, definition }) => [name, definition])),
    pin: { type: 'string', writeOnly: true },
  },
  // With them, an index has the records with one value in the order of a list.
  indexes: [{ fields: ['ownerId', 'size'] }, { fields: ['status', 'createdAt'] }, { fields: ['label', 'amount'] }],
};

export const USER: JsonObject = {
  name: 'User',
  fields: {
    role: { type: 'enum', values: ['anon', 'user', 'admin', 'editor'], default: 'user' },
    ...Object.fromEntries(USER_FIELDS.filter(({ name }) => !BUILT_IN.includes(name)).map(({ name, definition }) => [name, definition])),
  },
};

/** All users by id. Cid has required fields only. */
export const USERS: ReadonlyMap<string, JsonObject> = new Map(
  (
    [
      [
        'ann',
        {
          department: 'a',
          level: 10,
          fee: '12.30',
          teams: ['a', 'b'],
          seenAt: '2026-01-31T11:59:59.999Z',
          born: '2026-01-31',
          profile: { a: 1 },
          managerId: 'u-bob',
          mentorIds: ['u-bob', 'u-eve'],
        },
      ],
      [
        'bob',
        {
          department: 'AB',
          level: -1,
          fee: '-0.10',
          teams: [],
          profile: ['a', null],
          managerId: 'u-cid',
          role: 'admin',
          mentorIds: ['u-ann', 'u-gone'],
        },
      ],
      ['cid', { role: 'editor' }],
      [
        'dan',
        {
          department: '',
          level: Number.MAX_SAFE_INTEGER,
          fee: '9999999999999999.99',
          born: '1969-12-31',
          managerId: 'u-gone',
        },
      ],
      ['eve', { department: '%', teams: ['%', '😀'], seenAt: '9999-12-31T23:59:59.999Z', profile: 'a', isActive: false, mentorIds: [] }],
    ] as const
  ).map(([name, fields]): [string, JsonObject] => {
    const usual = {
      version: 1,
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:00:00.000Z',
      role: 'user',
      isActive: true,
    };
    return [`u-${name}`, { id: `u-${name}`, email: `${name}@example.org`, ...usual, ...(fields as JsonObject) }];
  }),
);

/** Creates rows with every value of every field, some of them missing. `turn` changes which values share a row. */
export function hostileRows(turn = 0): readonly JsonObject[] {
  return Array.from({ length: ROWS }, (_, row) => {
    const above = rowAbove(row);
    return {
      ...(above !== undefined && { upId: `t-${String(above).padStart(3, '0')}` }),
      ...(DELETED.has(row) && { deletedAt: '2026-01-31T11:30:00.000Z' }),
      ...hostileValues(row, turn),
    };
  });
}

function hostileValues(row: number, turn: number): JsonObject {
  return Object.fromEntries(
    FIELDS.flatMap(({ name, values }, index) => {
      // A stride that is coprime to the number of values reaches all of them.
      const value = values[(row * (STRIDES[index % STRIDES.length] ?? 1) + turn * index) % (values.length + 1)];
      // A field set to null has no value.
      return value === undefined || value === null ? [] : [[name, value] as const];
    }),
  );
}

const STRIDES = [101, 103, 107, 109, 113, 127, 131, 137, 139];

/** A path that conditions may read, with typical values. */
export interface LawPath {
  readonly path: string;
  /** Undefined if no definition gives a kind. */
  readonly kind: PathKind | undefined;
  readonly values: readonly Json[];
}

/** Values of `createdBy`: users, an identity of a trusted issuer, and an unknown id. */
export const AUTHORS: readonly string[] = ['u-ann', 'u-bob', 'u-dan', 'https://issuer.example|u-ann', 'u-gone'];

const AUTOMATIC: readonly LawPath[] = [
  { path: 'resource.id', kind: 'text', values: ['t-003', 'u-ann'] },
  { path: 'resource.createdBy', kind: 'text', values: AUTHORS },
  { path: 'resource.version', kind: 'number', values: [1, 2] },
  { path: 'resource.createdAt', kind: 'timestamp', values: ['2026-01-01T00:00:00.000Z', '2026-01-01T05:45:00+05:45'] },
];
const KNOWN: readonly LawPath[] = [
  { path: 'user.id', kind: 'text', values: ['u-ann', 'u-cid'] },
  { path: 'user.email', kind: 'text', values: ['ann@example.org'] },
  { path: 'environment.hour', kind: 'number', values: [17, 18] },
  { path: 'environment.timestamp', kind: 'timestamp', values: ['2026-01-31T12:00:00Z'] },
  { path: 'environment.date', kind: 'date', values: ['2026-01-31'] },
  { path: 'environment.dayOfWeek', kind: 'number', values: [6] },
  { path: 'request.ip', kind: 'text', values: ['10.1.2.3'] },
  { path: 'request.action', kind: 'text', values: ['list'] },
];
/** Values inside the JSON documents. */
const INSIDE: readonly Json[] = [...DOCUMENTS.values.flatMap((value) => (isObject(value) ? Object.values(value) : [])), 'a', 10];

/** Paths without a kind, which may have a value of any type. */
const UNTYPED: readonly LawPath[] = [
  { path: 'user.badge', kind: undefined, values: [10, '10', null] },
  { path: 'user.note', kind: undefined, values: [null, 'a'] },
  { path: 'user.nobody.has', kind: undefined, values: ['a'] },
  { path: 'resource.extra.a', kind: undefined, values: [1, 'a'] },
  ...['resource.doc.a', 'resource.doc.x-1.0'].map((path) => ({ path, kind: undefined, values: INSIDE })),
  { path: 'user.profile.a', kind: undefined, values: [1, 'a'] },
];

const at = (group: string, fields: readonly ThingField[]): readonly LawPath[] =>
  fields.map(({ name, kind, values }) => ({ path: `${group}.${name}`, kind, values }));

/** Paths of the record, paths through references and lists of references, and paths that are known before the record. */
export const PATHS: Readonly<Record<'own' | 'hop' | 'list' | 'known', readonly LawPath[]>> = {
  own: [...at('resource', [...FIELDS, UP_FIELD]), ...AUTOMATIC, ...UNTYPED.filter(({ path }) => path.startsWith('resource.'))],
  hop: [
    ...at('resource.ownerId', USER_FIELDS),
    ...at('resource.parentId', FIELDS),
    { path: 'resource.ownerId.profile.a', kind: undefined, values: [1, 'a'] },
    { path: 'resource.parentId.extra.a', kind: undefined, values: [1] },
    { path: 'resource.parentId.doc.a', kind: undefined, values: INSIDE },
    ...at('resource.createdBy', USER_FIELDS),
    ...at('resource.parentId.parentId', FIELDS),
    ...at('resource.parentId.ownerId', USER_FIELDS),
    ...at('resource.parentId.parentId.createdBy.managerId', USER_FIELDS),
    { path: 'resource.parentId.ownerId.profile.a', kind: undefined, values: [1, 'a'] },
  ],
  list: [
    ...at('resource.friendIds', USER_FIELDS),
    ...at('resource.friendIds', USER_FIELDS),
    ...at('resource.partIds', FIELDS),
    ...at('resource.partIds.ownerId', USER_FIELDS),
    ...at('resource.partIds.friendIds', USER_FIELDS),
    ...at('resource.parentId.friendIds', USER_FIELDS),
    ...at('resource.friendIds.mentorIds', USER_FIELDS),
    ...at('resource.friendIds.managerId.mentorIds', USER_FIELDS),
    ...at('user.mentorIds', USER_FIELDS),
    ...at('user.mentorIds', USER_FIELDS),
    ...at('user.mentorIds.managerId', USER_FIELDS),
    ...at('user.mentorIds.mentorIds', USER_FIELDS),
    ...['resource.friendIds', 'user.mentorIds', 'resource.friendIds.mentorIds'].map((path): LawPath => {
      return { path: `${path}.profile.a`, kind: undefined, values: [1, 'a'] };
    }),
    { path: 'resource.partIds.doc.a', kind: undefined, values: INSIDE },
    { path: 'resource.partIds.id', kind: 'text', values: ['t-003', 't-036', 't-gone'] },
    { path: 'resource.friendIds.id', kind: 'text', values: ['u-ann', 'u-gone'] },
  ],
  known: [
    ...at('user', USER_FIELDS),
    ...at('user.managerId', USER_FIELDS),
    ...at('user.managerId.managerId', USER_FIELDS),
    ...KNOWN,
    ...UNTYPED.filter(({ path }) => path.startsWith('user.')),
  ],
};

/** The kinds of paths by definition. */
export const KINDS: ReadonlyMap<string, PathKind> = new Map(
  [...PATHS.own, ...PATHS.hop, ...PATHS.list, ...PATHS.known, { path: 'resource.name', kind: 'text' as const, values: [] }].flatMap(
    ({ path, kind }) => (kind === undefined ? [] : [[path, kind] as const]),
  ),
);
