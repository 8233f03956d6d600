import type { JsonObject } from '../../operators/index.ts';

const state: JsonObject = {
  name: '_State',
  description:
    'Single values: `epoch` (number: current revision), `instance` (text: random id of the database, in the name of the session cookie), `setup` (text: id of the first admin), `setupTokens` (text: SHA-256 of each valid token), `definitions` (text: hash of those in force), `restored` (text: changes with each restore).',
  fields: { number: { type: 'integer' }, text: { type: 'string' } },
};

const revision: JsonObject = {
  name: '_Epoch',
  description: 'Every revision, by its stamp. A stamp that is not listed was undone by a restore or belongs to another database.',
  fields: {
    number: { type: 'integer', required: true },
    at: { type: 'timestamp', required: true },
    historyHash: {
      type: 'string',
      description: 'Hash of the policy history up to this revision, if it changed a policy or an assignment.',
    },
  },
  indexes: [{ fields: ['number'] }],
};

const session: JsonObject = {
  name: '_Session',
  description: 'Sessions. A token is valid only as long as its session.',
  fields: {
    userId: { type: 'string', required: true },
    createdAt: { type: 'timestamp', required: true },
    expiresAt: { type: 'timestamp', required: true, index: true },
    revokedAt: { type: 'timestamp' },
    cookieHash: {
      type: 'string',
      description: 'Of a browser session: the SHA-256 of its cookie in hexadecimal. Absent in other sessions.',
    },
    lastUsedAt: { type: 'timestamp', description: 'Time of the login or of the last refresh.' },
    ip: { type: 'string', description: 'Address of the client at that time.' },
    userAgent: { type: 'string', description: 'Header User-Agent of the client at that time.' },
  },
  indexes: [{ fields: ['cookieHash'], unique: true }, { fields: ['userId', 'revokedAt', 'id'] }],
};

const refreshToken: JsonObject = {
  name: '_RefreshToken',
  description: 'Refresh tokens by their SHA-256 in hexadecimal.',
  fields: {
    sessionId: { type: 'string', required: true, index: true },
    createdAt: { type: 'timestamp', required: true },
    expiresAt: { type: 'timestamp', required: true, index: true },
    usedAt: { type: 'timestamp' },
  },
};

const loginAttempt: JsonObject = {
  name: '_LoginAttempt',
  description: 'Numbers of login attempts by account and address, by address, and by account.',
  fields: {
    windowStart: { type: 'timestamp', required: true, index: true },
    count: { type: 'integer', required: true },
  },
};

const loginAddress: JsonObject = {
  name: '_LoginAddress',
  description: 'Addresses of recent logins, by the SHA-256 of user and address in hexadecimal.',
  fields: {
    userId: { type: 'string', required: true, index: true },
    lastAt: { type: 'timestamp', required: true, index: true },
  },
};

const recordChecksum: JsonObject = {
  name: '_RecordChecksum',
  description: 'Checksums of users, by `User/` and the id.',
  fields: { checksum: { type: 'string', description: 'SHA-256, base64url, of the fields of the record that are not secret.' } },
};

const savedView: JsonObject = {
  name: '_SavedView',
  description: 'Views of screens that users have saved, by user and name.',
  fields: {
    userId: { type: 'string', required: true },
    name: { type: 'string', required: true },
    screen: { type: 'string', required: true },
    query: { type: 'json', required: true, description: 'State of the screen. The service does not interpret it.' },
    version: { type: 'integer', required: true },
    updatedAt: { type: 'timestamp', required: true },
  },
  indexes: [{ fields: ['userId', 'name'], unique: true }],
};

const definition: JsonObject = {
  name: '_Definition',
  description: 'Definitions as they were last applied to the tables, by resource name.',
  fields: {
    hash: { type: 'string', required: true },
    source: { type: 'json', required: true },
    appliedAt: { type: 'timestamp', required: true },
    keptAside: { type: 'boolean', required: true, default: false },
  },
};

const migration: JsonObject = {
  name: '_Evolution',
  description: 'Performed migrations, prunes and restores.',
  fields: {
    at: { type: 'timestamp', required: true, index: true },
    actor: { type: 'string', required: true, description: '`start`, `dev`, `cli`, or the id of a user.' },
    planHash: { type: 'string', required: true },
    steps: { type: 'json', required: true, description: 'Performed steps: kind, resource, field, risk, reason.' },
    durationMs: { type: 'integer', required: true },
  },
};

/** The tables of revisions, sessions, login limits, saved views and migrations. */
export const SERVICE_DEFINITIONS: readonly JsonObject[] = [
  state,
  revision,
  session,
  refreshToken,
  loginAttempt,
  loginAddress,
  recordChecksum,
  savedView,
  definition,
  migration,
];
