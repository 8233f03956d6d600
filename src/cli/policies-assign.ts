import type { CommandAssignment } from '../api/index.ts';
import { SetupError } from '../errors.ts';
import { parseDate, parseInstant, toInstantText } from '../operators/index.ts';
import { ASSIGNABLE_ROLES } from '../resources/index.ts';
import type { CliCommand, CliFlags } from './cli-context.ts';
import { findFlag, requireFlag } from './flags.ts';
import { ADMIN_CHANGE_FLAGS } from './import-policies.ts';
import { withService } from './with-service.ts';

/** The flags that name the user or role of an assignment. */
export const ASSIGNEE_FLAGS: Readonly<Record<string, string>> = {
  '--user <email>': 'user to whom the policy is assigned',
  '--role <role>': `role to which the policy is assigned: ${ASSIGNABLE_ROLES.join(', ')}`,
  ...ADMIN_CHANGE_FLAGS,
};

/** Assigns a policy. */
export const policiesAssign: CliCommand = {
  name: 'policies assign',
  summary: 'assign a policy to a user or a role',
  details:
    'Policies in files are assigned to roles by the files; users are assigned here, in the console or by the API. If the policy is assigned to the user already, --expires changes the end of the assignment. The service may be running.',
  settings: 'database',
  parameters: { '<policy>': 'name or id of the policy' },
  flags: {
    ...ASSIGNEE_FLAGS,
    '--expires <time>':
      'end of the assignment to a user: a date, at whose beginning in UTC it ends, a timestamp, or "never" (default: never for a new assignment; one in force keeps its end)',
  },
  async run(context, config, flags) {
    const assignment = { ...parseAssignment(flags), expiresAt: parseExpiry(flags) };
    return withService(context, { config }, async (service) => {
      context.print(await service.assignPolicy(assignment));
      return 0;
    });
  },
};

/** Parses the flags that `assign` and `unassign` share. @throws SetupError */
export function parseAssignment(flags: CliFlags): CommandAssignment {
  const [as, policy] = [requireFlag(flags, 'as'), requireFlag(flags, 'policy')];
  const [email, role] = [findFlag(flags, 'user'), findFlag(flags, 'role')];
  const reason = findFlag(flags, 'reason');
  if ((email === undefined) === (role === undefined))
    throw new SetupError(`expected either --user with an email or --role, given ${email === undefined ? 'none' : 'both'}`);
  if (email !== undefined) return { as, policy, to: { email }, reason };
  const known = ASSIGNABLE_ROLES.find((name) => name === role);
  if (known !== undefined) return { as, policy, to: { role: known }, reason };
  throw new SetupError(`--role: expected one of ${ASSIGNABLE_ROLES.join(', ')}, given ${JSON.stringify(role?.slice(0, 40))}`);
}

function parseExpiry(flags: CliFlags): string | null | undefined {
  const text = findFlag(flags, 'expires');
  if (text === undefined) return undefined;
  if (flags.has('role')) throw new SetupError('--expires: assignments to roles do not end; remove them with "bailiwick policies unassign"');
  if (text === 'never') return null;
  const time = parseInstant(text) ?? parseDate(text);
  if (time === undefined)
    throw new SetupError(
      `--expires: expected a date such as 2027-01-31, a timestamp such as 2027-01-31T18:00:00Z, or never, given ${JSON.stringify(text.slice(0, 40))}`,
    );
  if (time <= Date.now()) throw new SetupError(`--expires: expected a time in the future, given ${JSON.stringify(text.slice(0, 40))}`);
  return toInstantText(time);
}
