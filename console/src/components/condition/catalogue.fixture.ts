import type { Catalogue } from './condition-paths.ts';

type Field = Catalogue['definitions'][number]['fields'][number];

function field(members: Partial<Field> & Pick<Field, 'name' | 'type'>): Field {
  const flags = { required: false, unique: false, index: false, readOnly: false, writeOnly: false, immutable: false, guarded: false };
  return { ...flags, operators: [], ...members };
}

const operator = (name: string, label: string, operand: string, kinds: Catalogue['operators'][number]['kinds']) => ({
  name,
  label,
  operand,
  kinds,
  summary: '',
});

/** A small catalogue. */
export const CATALOGUE: Catalogue = {
  actions: [],
  auditLog: { name: '_Decision', description: null, fields: [field({ name: 'allowed', type: 'boolean' })], indexes: [] } as never,
  contexts: {
    user: [{ path: 'user.id', kind: 'text' }, { path: 'user.role', kind: 'text', values: ['user', 'editor'] }, { path: 'user.claims' }],
    environment: [{ path: 'environment.timestamp', kind: 'timestamp' }],
    request: [{ path: 'request.data' }],
  },
  definitions: [
    {
      name: 'Article',
      description: null,
      indexes: [],
      fields: [
        field({ name: 'status', type: 'enum', values: ['draft', 'published'] }),
        field({ name: 'views', type: 'integer' }),
        field({ name: 'tags', type: 'list', of: { type: 'string' } }),
        field({ name: 'authorId', type: 'reference', to: 'User' }),
        field({ name: 'parentId', type: 'reference', to: 'Article' }),
        field({ name: 'relatedIds', type: 'list', of: { type: 'reference', to: 'Article' } }),
        field({ name: 'createdBy', type: 'string', readOnly: true }),
        field({ name: 'secret', type: 'string', writeOnly: true }),
        field({ name: 'extra', type: 'json' }),
      ],
    } as never,
    {
      name: 'User',
      description: null,
      indexes: [],
      fields: [field({ name: 'email', type: 'email' }), field({ name: 'status', type: 'integer' })],
    } as never,
  ],
  effects: ['ALLOW', 'DENY'],
  expressions: { functions: [], macros: [], operators: [] },
  fieldTypes: [
    { name: 'enum', kind: 'text' },
    { name: 'string', kind: 'text' },
    { name: 'email', kind: 'text' },
    { name: 'reference', kind: 'text' },
    { name: 'integer', kind: 'number' },
    { name: 'list', kind: 'list' },
    { name: 'json', kind: 'json' },
    { name: 'boolean', kind: 'boolean' },
  ].map((type) => ({ form: 'input', label: type.name, summary: '', ...type }) as Catalogue['fieldTypes'][number]),
  limits: {
    comparisons: 200,
    depth: 16,
    expressionDepth: 32,
    expressionLength: 4096,
    importPolicies: 10,
    listItems: 10,
    references: 4,
    relatedRecords: 1000,
    rules: 10,
    textLength: 10,
  },
  operators: [
    operator('eq', 'is', 'scalar', ['text', 'number', 'boolean', 'timestamp', 'date']),
    operator('in', 'is one of', 'scalars', ['text', 'number']),
    operator('between', 'is between', 'range', ['number', 'timestamp']),
    operator('has', 'has', 'scalar', ['list']),
    operator('exists', 'has a value', 'boolean', ['text', 'number', 'list']),
    operator('withinLast', 'is within the last', 'duration', ['timestamp']),
    operator('dayOfWeekIn', 'is on a day of the week among', 'daysOfWeek', ['timestamp']),
    operator('cidr', 'is in the network', 'networks', ['text']),
    { ...operator('within', 'is within', 'recordIds', ['text']), needsHierarchy: true },
  ],
  policyTypes: ['ROLE_BASED', 'ATTRIBUTE_BASED', 'CUSTOM'],
  roles: ['user', 'editor'],
  ruleActions: ['read', 'update'],
  userRoles: ['user', 'editor'],
};

const definition = (name: string, fields: readonly Field[]): Catalogue['definitions'][number] =>
  ({ name, description: null, indexes: [], fields: [field({ name: 'id', type: 'string', readOnly: true }), ...fields] }) as never;

/** The catalogue with documents of organisations, whose members and teams are records of their own. */
export const ORGANISATIONS: Catalogue = {
  ...CATALOGUE,
  definitions: [
    ...CATALOGUE.definitions,
    definition('Organisation', [field({ name: 'plan', type: 'enum', values: ['free', 'paid'] })]),
    definition('Document', [
      field({ name: 'organisationId', type: 'reference', to: 'Organisation' }),
      field({ name: 'readerIds', type: 'list', of: { type: 'reference', to: 'User' } }),
    ]),
    definition('TeamMember', [
      field({ name: 'teamId', type: 'reference', to: 'Team' }),
      field({ name: 'userId', type: 'reference', to: 'User' }),
    ]),
    definition('Team', [field({ name: 'organisationId', type: 'reference', to: 'Organisation' })]),
    definition('Membership', [
      field({ name: 'userId', type: 'reference', to: 'User' }),
      field({ name: 'organisationId', type: 'reference', to: 'Organisation' }),
      field({ name: 'level', type: 'enum', values: ['owner', 'editor'] }),
      field({ name: 'tags', type: 'list', of: { type: 'string' } }),
      field({ name: 'code', type: 'string', writeOnly: true }),
      field({ name: 'createdBy', type: 'string', readOnly: true }),
    ]),
  ],
};

/** The catalogue with documents in folders of folders. */
export const FOLDERS: Catalogue = {
  ...CATALOGUE,
  contexts: {
    ...CATALOGUE.contexts,
    user: [
      { path: 'user.id', kind: 'text' },
      { path: 'user.deskId', kind: 'text', to: 'Folder' },
      { path: 'user.rootFolderIds', kind: 'list', itemKind: 'text', to: 'Folder' },
    ],
  },
  definitions: [
    ...CATALOGUE.definitions,
    definition('Folder', [field({ name: 'parentId', type: 'reference', to: 'Folder', hierarchy: true })]),
    definition('Document', [
      field({ name: 'folderId', type: 'reference', to: 'Folder' }),
      field({ name: 'otherIds', type: 'list', of: { type: 'reference', to: 'Folder' } }),
    ]),
    definition('Grant', [field({ name: 'folderId', type: 'reference', to: 'Folder' })]),
  ],
};
