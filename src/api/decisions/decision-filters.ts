/** The filters that searches, histograms, facets and exports of the audit log share. */
import { RULE_ACTIONS } from '../../actions.ts';
import { type EntryFilter, EXCLUDABLE_MEMBERS, type ExcludedValues } from '../../audit/index.ts';
import type { Issue } from '../../errors.ts';
import { type Json, parseDate, parseInstant } from '../../operators/index.ts';
import { parseTexts, refuseMistakes } from '../../request/index.ts';
import { ENTRY_KINDS } from '../../resources/system/index.ts';
import { Input, OneOf, type Schema, Type, type TypeOf } from '../../schemas/index.ts';
import { validateSchema } from '../../validation/index.ts';
import type { Auditor } from '../admission/index.ts';
import { MAX_NAME_LENGTH, name } from '../schema-members.ts';

/** The sentences about auditors in the descriptions of endpoints. */
export const FOR_AUDITORS =
  'Users who are not admins need a rule that allows `read` on the resource `_Decision`. They see neither `facts` nor explanations.';

/** Maximum number of excluded values of each member. */
const MAX_EXCLUDED = 20;

/** The filters of the audit log in the body of a request. */
export const BODY_FILTERS = {
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
  adminReads: Type.Optional(
    Type.Boolean({
      description:
        '`false` leaves out the entries of allowed requests of admins and auditors that only read: policies, this log and the like. Denied ones stay.',
    }),
  ),
  refreshes: Type.Optional(
    Type.Boolean({
      description: '`false` leaves out the entries of refreshes that succeeded, of tokens and of sessions. Refused ones stay.',
    }),
  ),
  from: moment('Start (inclusive): a date, which begins in UTC, or a timestamp with its offset.'),
  to: moment('End (exclusive): a date, which begins in UTC, or a timestamp with its offset.'),
  not: Type.Optional(
    excluded(
      (member) => Type.Array(member === 'kind' ? OneOf(ENTRY_KINDS) : name('A value.'), { maxItems: MAX_EXCLUDED }),
      `Leaves out the entries with these values: at most ${MAX_EXCLUDED} of each member. An entry without the member is not left out.`,
    ),
  ),
} as const;

/** The filters of the audit log as query parameters. They are those of a body, with lists as text. */
export const QUERY_FILTERS = {
  ...BODY_FILTERS,
  not: Type.Optional(
    excluded(
      () => Type.String({ minLength: 1, maxLength: MAX_EXCLUDED * (MAX_NAME_LENGTH + 3) }),
      `Leaves out the entries with these values: \`not[resource]=Article,Comment\`. Several values, at most ${MAX_EXCLUDED} of each member, are comma-separated or a JSON array. An entry without the member is not left out.`,
    ),
  ),
} as const;

/** Creates the schema of an object with the members whose values can be excluded. */
function excluded<S extends Schema>(schemaOf: (member: (typeof EXCLUDABLE_MEMBERS)[number]) => S, description: string) {
  const members = EXCLUDABLE_MEMBERS.map((member) => [member, Type.Optional(schemaOf(member))] as const);
  return Input(Object.fromEntries(members) as Record<(typeof members)[number][0], (typeof members)[number][1]>, { description });
}

const FILTER_QUERY = Input(QUERY_FILTERS);
const FILTER_BODY = Input(BODY_FILTERS);
const EXCLUDED_LISTS = Input({ not: BODY_FILTERS.not });

/** Returns the filter of validated query parameters, or of a validated body. @throws Problem REQUEST_PARAMETER for mistakes in a list of `not` */
export function toEntryFilter(query: TypeOf<typeof FILTER_QUERY> | TypeOf<typeof FILTER_BODY>, auditor: Auditor | undefined): EntryFilter {
  const { userId, role, resource, action, recordId, allowed, ruleId, policyId, requestId, ip, outcome, kind, not, from, to } = query;
  return {
    ...{ userId, role, resource, action, recordId, allowed, ruleId, policyId, requestId, ip, outcome, kind },
    adminReads: query.adminReads,
    refreshes: query.refreshes,
    not: not === undefined ? undefined : toExcludedValues(not),
    from: toTime(from),
    to: toTime(to),
    where: auditor?.where,
  };
}

/** Parses and validates the lists of `not`. */
function toExcludedValues(not: Readonly<Record<string, string | readonly string[]>>): ExcludedValues {
  const issues: Issue[] = [];
  const lists: Record<string, Json> = {};
  for (const [member, given] of Object.entries(not)) {
    const parsed = typeof given === 'string' ? parseTexts(given) : { value: [...given] };
    if ('detail' in parsed) issues.push({ path: `not.${member}`, code: 'type', detail: parsed.detail });
    else lists[member] = parsed.value;
  }
  issues.push(...validateSchema(EXCLUDED_LISTS, { not: lists }, 'query parameter'));
  refuseMistakes('REQUEST_PARAMETER', issues);
  return lists as ExcludedValues;
}

/** Creates the schema of a moment in a query. */
export function moment(description: string) {
  return Type.Optional(Type.String({ format: 'instant', maxLength: 100, description }));
}

/** Returns the milliseconds since 1970 of a validated moment. A date is its beginning in UTC. */
export function toTime(given: string | undefined): number | undefined {
  return given === undefined ? undefined : (parseInstant(given) ?? parseDate(given));
}
