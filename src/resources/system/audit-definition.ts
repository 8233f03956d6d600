import type { JsonObject } from '../../operators/index.ts';

/** The kinds of audit entries. */
export const ENTRY_KINDS = ['access', 'admin', 'auth', 'evaluation', 'repeat'] as const;

const decision: JsonObject = {
  name: '_Decision',
  description: 'The audit log: one entry for each decision, each event of authentication, and each request of an admin.',
  partitionBy: 'at',
  fields: {
    at: { type: 'timestamp', required: true, index: true },
    kind: { type: 'enum', values: ENTRY_KINDS, required: true },
    userId: { type: 'string' },
    role: { type: 'string' },
    resource: { type: 'string' },
    action: { type: 'string' },
    recordId: { type: 'string' },
    allowed: { type: 'boolean', required: true },
    reason: { type: 'text' },
    ruleId: { type: 'string' },
    policyId: { type: 'string' },
    epoch: { type: 'integer' },
    requestId: { type: 'string' },
    ip: { type: 'string' },
    outcome: { type: 'string', description: 'Error code, if the request failed for another reason than a denial by policies.' },
    facts: { type: 'json', description: 'The values that the conditions read, by path, and the names of updated fields.' },
    writer: { type: 'string', description: 'The hash chain of the entry; absent in entries written before chains were introduced.' },
    sequence: { type: 'integer', description: 'Its number in the chain: 1, 2, 3 …' },
    hash: { type: 'string', description: 'SHA-256, base64url, of the previous hash and the content of the entry.' },
  },
  indexes: [
    { fields: ['userId', 'at'] },
    { fields: ['resource', 'at'] },
    { fields: ['allowed', 'at'] },
    { fields: ['writer', 'sequence'], unique: true },
  ],
};

const chain: JsonObject = {
  name: '_Chain',
  description: 'Hash chains of the audit log. Each has one writer.',
  fields: {
    at: { type: 'timestamp', required: true, description: 'Start of the chain.' },
    found: { type: 'json', required: true, description: 'The last entries of the other chains at that time.' },
    timeZone: { type: 'string', description: 'The time zone of the conditions that decided its entries.' },
    cut: { type: 'json', description: 'If old entries were pruned: sequence and hash of the last one, signed.' },
  },
};

const decisionHour: JsonObject = {
  name: '_DecisionHour',
  description: 'Numbers of decisions by hour and resource. Concurrent writers use separate rows.',
  fields: {
    hour: { type: 'timestamp', required: true },
    resource: { type: 'string', required: true },
    grants: { type: 'integer', required: true, default: 0 },
    denials: { type: 'integer', required: true, default: 0 },
  },
  indexes: [{ fields: ['hour', 'resource'] }],
};

const repeatedDenial: JsonObject = {
  name: '_RepeatedDenial',
  description: 'Numbers of repeated denials that no entry of kind `repeat` records yet. Each writer of a hash chain has rows of its own.',
  fields: {
    first: { type: 'string', required: true, description: 'Id of the entry of the first denial.' },
    writer: { type: 'string', required: true },
    resource: { type: 'string', required: true },
    action: { type: 'string', required: true },
    network: { type: 'string', description: 'Absent if the denials have several networks and reasons.' },
    since: { type: 'timestamp', required: true, description: 'Time of the first denial.' },
    last: { type: 'timestamp', required: true, description: 'Time of the last repeated denial.' },
    endsAt: { type: 'timestamp', required: true, description: 'From this time on, no further denial is counted here.' },
    count: { type: 'integer', required: true },
  },
  indexes: [{ fields: ['first', 'writer'], unique: true }, { fields: ['endsAt'] }],
};

/** The tables of the audit log. */
export const DECISION_DEFINITIONS: readonly JsonObject[] = [decision, chain, decisionHour, repeatedDenial];
