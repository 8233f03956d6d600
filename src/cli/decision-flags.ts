import type { EntryLabels, EntryTail } from '../api/index.ts';
import { toOneLine } from '../one-line.ts';
import type { CliFlags } from './cli-context.ts';

/** Flags that select entries of the audit log. */
export const DECISION_FLAGS: Readonly<Record<string, string>> = {
  '--resource <name>': 'entries about this resource',
  '--action <name>': 'entries about this action',
  '--user-id <id|email>': 'entries about this user',
  '--role <role>': 'entries about callers of this role',
  '--record-id <id>': 'entries about this record, policy or session',
  '--policy-id <id|name>': 'entries that a rule of this policy decided',
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

/** Maximum characters of the name of a record. */
const MAX_LABEL = 60;

/** Prints an entry in one line: time, result, action, resource and record, caller, reason and id. Names replace the ids of caller and record. */
export function printEntry(
  { at, allowed, action, resource, recordId, userId, role, reason, id }: EntryTail['entries'][number],
  { caller: callerName, record: recordName }: Partial<EntryLabels> = {},
): string {
  const record = recordName === undefined ? `/${recordId}` : ` ${JSON.stringify(shorten(recordName))}`;
  const target = recordId === undefined ? resource : `${resource}${record}`;
  const caller = userId === undefined ? role : `${role} ${callerName ?? userId}`;
  return toOneLine([at, allowed ? 'allow' : 'DENY ', action, target, `by ${caller}:`, reason, `(${id})`].join(' '));
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length <= MAX_LABEL ? text : `${characters.slice(0, MAX_LABEL - 1).join('')}…`;
}
