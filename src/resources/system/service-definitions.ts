import type { JsonObject } from '../../operators/index.ts';

const state: JsonObject = {
  name: '_State',
  description:
    'Single values: `epoch` (number), `setup` (text: id of the first admin), `setupTokens` (text: SHA-256 of each that counts), `definitions` (text: hash of those in force), `restored` (text: new with each restore).',
  fields: { number: { type: 'integer' }, text: { type: 'string' } },
};

const epoch: JsonObject = {
  name: '_Epoch',
  description: 'Every epoch that began here, by its stamp. One that is not among them was undone, or is of another history.',
  fields: {
    number: { type: 'integer', required: true },
    at: { type: 'timestamp', required: true },
    historyHash: {
      type: 'string',
      description: 'Hash of the policy history up to this revision, where it changed a policy or an assignment.',
    },
  },
  indexes: [{ fields: ['number'] }],
};

const session: JsonObject = {
  name: '_Session',
  description: 'Logins; tokens name one and end with it.',
  fields: {
    userId: { type: 'string', required: true, index: true },
    createdAt: { type: 'timestamp', required: true },
    expiresAt: { type: 'timestamp', required: true },
    revokedAt: { type: 'timestamp' },
  },
};

const refreshToken: JsonObject = {
  name: '_RefreshToken',
  description: 'Refresh tokens by their SHA-256 in hexadecimal.',
  fields: {
    sessionId: { type: 'string', required: true, index: true },
    createdAt: { type: 'timestamp', required: true },
    expiresAt: { type: 'timestamp', required: true },
    usedAt: { type: 'timestamp' },
  },
};

const loginAttempt: JsonObject = {
  name: '_LoginAttempt',
  description: 'Attempts to log in, counted by account and address together, by address, and by account.',
  fields: {
    windowStart: { type: 'timestamp', required: true },
    count: { type: 'integer', required: true },
  },
};

const loginAddress: JsonObject = {
  name: '_LoginAddress',
  description: 'Addresses that users have logged in from lately, by the SHA-256 of user and address in hexadecimal.',
  fields: {
    userId: { type: 'string', required: true, index: true },
    lastAt: { type: 'timestamp', required: true },
  },
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

const evolution: JsonObject = {
  name: '_Evolution',
  description: 'Every time that tables followed definitions and something was done.',
  fields: {
    at: { type: 'timestamp', required: true, index: true },
    actor: { type: 'string', required: true, description: '`start`, `dev`, `cli`, or the id of a user.' },
    planHash: { type: 'string', required: true },
    steps: { type: 'json', required: true, description: 'What was done: kind, resource, field, risk, reason.' },
    durationMs: { type: 'integer', required: true },
  },
};

/** What the service keeps of itself. */
export const SERVICE_DEFINITIONS: readonly JsonObject[] = [
  state,
  epoch,
  session,
  refreshToken,
  loginAttempt,
  loginAddress,
  definition,
  evolution,
];
