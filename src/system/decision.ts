import type { JsonObject } from '../operators/index.ts';

const decision: JsonObject = {
  name: '_Decision',
  description: 'The record of decisions: one entry each, and one for each change that an admin makes.',
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
  },
  indexes: [{ fields: ['userId', 'at'] }, { fields: ['resource', 'at'] }, { fields: ['allowed', 'at'] }],
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
export const DECISION_DEFINITIONS: readonly JsonObject[] = [decision, decisionHour];
