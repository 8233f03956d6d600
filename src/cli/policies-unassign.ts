import type { CliCommand } from './cli-context.ts';
import { ASSIGNEE_FLAGS, parseAssignment } from './policies-assign.ts';
import { withService } from './with-service.ts';

/** Removes the assignment of a policy. */
export const policiesUnassign: CliCommand = {
  name: 'policies unassign',
  summary: 'remove the assignment of a policy to a user or a role',
  details: 'The policy stays. An assignment to a role that files manage is removed from the file instead. The service may be running.',
  settings: 'database',
  parameters: { '<policy>': 'name or id of the policy' },
  flags: ASSIGNEE_FLAGS,
  async run(context, config, flags) {
    const assignment = parseAssignment(flags);
    return withService(context, { config }, async (service) => {
      context.print(await service.unassignPolicy(assignment));
      return 0;
    });
  },
};
