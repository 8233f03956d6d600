/** The schemas of audit entries, of their verification, and of analytics. */
import type { AuditEntry } from '../../audit/index.ts';
import { type AuditVerification, BREAK_KINDS } from '../../audit/integrity/index.ts';
import { POLICY_TYPES, type PolicyType } from '../../authz/policies/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { ENTRY_KINDS } from '../../resources/system/index.ts';
import { component, described, OneOf, Type } from '../../schemas/index.ts';
import { COUNT, ID, TEXT, TIMESTAMP } from '../schema-members.ts';
import { ANALYTICS_DETAILS } from './analytics-details.ts';
import { EXPLAINED } from './explanation-schemas.ts';

/** The members of an entry that analytics return. */
const ACTIVITY = {
  id: ID,
  at: TIMESTAMP,
  userId: Type.Optional(TEXT),
  role: TEXT,
  resource: TEXT,
  action: TEXT,
  recordId: Type.Optional(TEXT),
  allowed: Type.Boolean(),
  reason: TEXT,
} as const;

const ENTRY_MEMBERS = {
  ...ACTIVITY,
  kind: OneOf(ENTRY_KINDS),
  ruleId: Type.Optional(TEXT),
  policyId: Type.Optional(TEXT),
  epoch: Type.Integer({ description: 'Revision of the policies under which it was made.' }),
  requestId: TEXT,
  ip: TEXT,
  outcome: Type.Optional(Type.String({ description: 'Code of the problem, if an allowed request failed or authentication was refused.' })),
  facts: Type.Optional(
    described<JsonObject>({
      type: 'object',
      additionalProperties: true,
      description:
        'The values that the conditions read, by path. Of an update: `fields`, the names of the given fields. Of a change of policies: `policyRevision` and `policyHash` of their history, and the given reason (`changeReason`). Of a read by an admin and of an evaluation: `question`. Of a login: `emailHash`. Of repeated denials and repeated refusals of tokens: their `count`, the id of the `first`, which `count` does not include, its time (`since`), and the time of the `last` one.',
    }),
  ),
} as const;

/** The members of an entry in the order of the columns of an export. */
export const ENTRY_COLUMNS = Object.keys(ENTRY_MEMBERS) as readonly (keyof typeof ENTRY_MEMBERS)[];

/** The schema of an audit entry. */
export const ENTRY = component('admin.Decision', Type.Object(ENTRY_MEMBERS));

/** The schema of an audit entry with its explanation. An entry of kind `admin` has none. */
export const EXPLAINED_ENTRY = component(
  'admin.ExplainedDecision',
  Type.Object({
    ...ENTRY_MEMBERS,
    ...EXPLAINED,
    trace: Type.Optional(EXPLAINED.trace),
    ties: Type.Optional(EXPLAINED.ties),
    warnings: Type.Optional(Type.Array(TEXT, { description: 'A warning if the trace differs from the recorded decision.' })),
  }),
);

/** An example: an editor reads an article of the newsroom. */
export const ENTRY_EXAMPLE: AuditEntry = {
  id: '0198c0de-0000-7000-8000-00000000000a',
  at: '2026-01-31T09:00:00.000Z',
  kind: 'access',
  userId: '0198c0de-0000-7000-8000-00000000000b',
  role: 'user',
  resource: 'Article',
  action: 'read',
  recordId: '0198c0de-0000-7000-8000-00000000000c',
  allowed: true,
  reason: 'allowed by rule "editors read every article" of policy "Editors"',
  ruleId: '0198c0de-0000-7000-8000-000000000002',
  policyId: '0198c0de-0000-7000-8000-000000000001',
  epoch: 12,
  requestId: '0198c0de-0000-7000-8000-00000000000d',
  ip: '192.0.2.1',
  facts: { 'user.position': 'editor' },
};

/** The schema of a page of the verification. */
export const VERIFICATION = component(
  'admin.Verification',
  Type.Object({
    whole: Type.Boolean({ description: 'True if no break was found.' }),
    entries: Type.Integer({ minimum: 0, description: 'Number of verified entries.' }),
    chains: COUNT,
    notChained: Type.Integer({
      minimum: 0,
      description: 'Entries from before hash chains were introduced. Counted on the first page.',
    }),
    breaks: Type.Array(
      Type.Object({
        kind: OneOf(BREAK_KINDS),
        writer: Type.Optional(Type.String({ description: 'The chain.' })),
        sequence: Type.Optional(Type.Integer({ description: 'The position in the chain.' })),
        id: Type.Optional(Type.String({ description: 'Id of the entry at that position.' })),
        detail: TEXT,
      }),
      { description: 'Breaks of the chains. At most 1000.' },
    ),
    breakCount: COUNT,
    policies: Type.Object(
      {
        versions: Type.Integer({ minimum: 0, description: 'Versions of policies and assignments that were verified.' }),
        unproven: Type.Integer({ minimum: 0, description: 'Versions from before they were hashed.' }),
        provenUntil: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: 'The newest revision whose hash an entry of this page holds: it proves all before.',
          }),
        ),
        until: Type.Optional(Type.Integer({ minimum: 0, description: 'The newest revision that has a hash.' })),
      },
      { description: 'The history of policies, verified on the pages behind the last entry.' },
    ),
  }),
);

/** An example of a verification. */
export const VERIFICATION_EXAMPLE: Omit<AuditVerification, 'next'> & { readonly whole: boolean } = {
  whole: true,
  entries: 1000,
  chains: 1,
  notChained: 0,
  breaks: [],
  breakCount: 0,
  policies: { versions: 12, unproven: 0, provenUntil: 12, until: 12 },
};

/** The schema of analytics. */
export const ANALYTICS = component(
  'admin.Analytics',
  Type.Object({
    totalPolicies: COUNT,
    activePolicies: COUNT,
    policyTypes: Type.Object(Object.fromEntries(POLICY_TYPES.map((type) => [type, COUNT])) as Record<PolicyType, typeof COUNT>),
    from: Type.String({ format: 'date-time', description: 'Start of the counts.' }),
    accessGrants: COUNT,
    accessDenials: COUNT,
    recentActivity: Type.Array(Type.Object(ACTIVITY), { description: 'The newest 20 decisions.' }),
    topResources: Type.Array(Type.Object({ resource: TEXT, grants: COUNT, denials: COUNT, total: COUNT })),
    ...ANALYTICS_DETAILS,
  }),
);
