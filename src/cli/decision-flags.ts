import type { CliFlags } from './cli-context.ts';
import type { CliEntry } from './cli-results.ts';

/** Flags that select entries of the audit log. */
export const DECISION_FLAGS: Readonly<Record<string, string>> = {
  '--resource <name>': 'entries about this resource',
  '--action <name>': 'entries about this action',
  '--user-id <id>': 'entries about this user',
  '--role <role>': 'entries about callers of this role',
  '--record-id <id>': 'entries about this record, policy or session',
  '--policy-id <id>': 'entries that a rule of this policy decided',
  '--kind <kind>': 'access, admin, auth, evaluation or repeat',
  '--from <time>': 'entries from this date or timestamp on',
  '--to <time>': 'entries before this date or timestamp',
  '--denied': 'entries of denied requests',
};

const TEXTS = ['resource', 'action', 'userId', 'role', 'recordId', 'policyId', 'kind', 'from', 'to'];

/** Returns the filters of the flags, by the names of the admin endpoints. */
export function toFilters(flags: CliFlags): Readonly<Record<string, string | boolean>> {
  const given = TEXTS.flatMap((name) => {
    const value = flags.get(name);
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return { ...Object.fromEntries(given), ...(flags.has('denied') && { allowed: false }) };
}

/** Prints an entry in one line: time, result, action, resource and record, caller, reason and id. */
export function printEntry({ at, allowed, action, resource, recordId, userId, role, reason, id }: CliEntry): string {
  const target = recordId === undefined ? resource : `${resource}/${recordId}`;
  const caller = userId === undefined ? role : `${role} ${userId}`;
  return [at, allowed ? 'allow' : 'DENY ', action, target, `by ${caller}:`, toOneLine(reason), `(${id})`].join(' ');
}

/** Replaces control characters, which a reason can contain because names of rules and values of requests are part of it. */
function toOneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}
