/** The filters that searches, histograms, facets and exports of the audit log share. */
import { RULE_ACTIONS } from '../../actions.ts';
import type { EntryFilter } from '../../audit/index.ts';
import { parseDate, parseInstant } from '../../operators/index.ts';
import { Input, OneOf, Type, type TypeOf } from '../../schemas/index.ts';
import type { Auditor } from '../admission/index.ts';
import { name } from '../schema-members.ts';
import { ENTRY_KINDS } from './audit-schemas.ts';

/** The sentences about auditors in the descriptions of endpoints. */
export const FOR_AUDITORS =
  'Users who are not admins need a rule that allows `read` on the resource `_Decision`. They see neither `facts` nor explanations.';

/** The members of a query that filter the audit log. */
export const DECISION_FILTERS = {
  userId: Type.Optional(name('Entries about this user.')),
  role: Type.Optional(name('Entries about callers of this role.')),
  resource: Type.Optional(name('Entries about this resource.')),
  action: Type.Optional({ ...name('Entries about this action.'), examples: [...RULE_ACTIONS] }),
  recordId: Type.Optional(name('Entries about the record, policy or session with this id.')),
  allowed: Type.Optional(Type.Boolean({ description: 'Only allowed (true) or denied (false) requests.' })),
  ruleId: Type.Optional(name('Entries that this rule decided.')),
  policyId: Type.Optional(name('Entries that a rule of this policy decided.')),
  requestId: Type.Optional(name('Entries of this request: `X-Request-Id` of the response.')),
  ip: Type.Optional(name('Entries of requests from this address.')),
  outcome: Type.Optional(name('Entries with this code of a problem, such as `VALUE_INVALID`.')),
  kind: Type.Optional(
    OneOf(ENTRY_KINDS, {
      description:
        '`access`: requests to records; `repeat`: numbers of repeated denials; `admin`: changes and reads by admins; `auth`: logins and refused tokens; `evaluation`: questions of callers about their own permissions.',
    }),
  ),
  from: moment('Start (inclusive): a date, which begins in UTC, or a timestamp with its offset.'),
  to: moment('End (exclusive): a date, which begins in UTC, or a timestamp with its offset.'),
} as const;

const FILTER_QUERY = Input(DECISION_FILTERS);

/** Returns the filter of a validated query. */
export function toEntryFilter(query: TypeOf<typeof FILTER_QUERY>, auditor: Auditor | undefined): EntryFilter {
  const { userId, role, resource, action, recordId, allowed, ruleId, policyId, requestId, ip, outcome, kind, from, to } = query;
  return {
    ...{ userId, role, resource, action, recordId, allowed, ruleId, policyId, requestId, ip, outcome, kind },
    from: toTime(from),
    to: toTime(to),
    where: auditor?.where,
  };
}

/** Creates the schema of a moment in a query. */
export function moment(description: string) {
  return Type.Optional(Type.String({ format: 'instant', maxLength: 100, description }));
}

/** Returns the milliseconds since 1970 of a validated moment. A date is its beginning in UTC. */
export function toTime(given: string | undefined): number | undefined {
  return given === undefined ? undefined : (parseInstant(given) ?? parseDate(given));
}
