import type { JsonObject } from '../../operators/index.ts';

const decision: JsonObject = {
  name: '_Decision',
  description: 'The record of decisions: one entry each, and one for each change that an admin makes.',
  partitionBy: 'at',
  fields: {
    at: { type: 'timestamp', required: true, index: true },
    kind: { type: 'enum', values: ['access', 'admin'], required: true },
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
    outcome: { type: 'string', description: 'Problem code, where the request failed otherwise than by denial.' },
    facts: { type: 'json', description: 'What the conditions read, by path.' },
    writer: { type: 'string', description: 'The chain that the entry is in; absent in those from before there were any.' },
    sequence: { type: 'integer', description: 'Its number there: 1, 2, 3 …' },
    hash: { type: 'string', description: 'SHA-256, base64url, of the hash before it and of all that it says.' },
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
  description: 'Chains of entries by writer: each was appended to by that writer alone.',
  fields: {
    at: { type: 'timestamp', required: true, description: 'When it began.' },
    found: { type: 'json', required: true, description: 'The ends of the chains before it, when it began.' },
    cut: { type: 'json', description: 'Where its beginning was pruned: sequence and hash of the last entry that went, signed.' },
  },
};

const decisionHour: JsonObject = {
  name: '_DecisionHour',
  description: 'Decisions counted by hour and resource, in several rows where many count at once.',
  fields: {
    hour: { type: 'timestamp', required: true },
    resource: { type: 'string', required: true },
    grants: { type: 'integer', required: true, default: 0 },
    denials: { type: 'integer', required: true, default: 0 },
  },
  indexes: [{ fields: ['hour', 'resource'] }],
};

/** What was decided. */
export const DECISION_DEFINITIONS: readonly JsonObject[] = [decision, chain, decisionHour];
