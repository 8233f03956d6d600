/** Texts of the first steps after the set-up. */
export const firstStepsTexts = {
  title: 'First steps',
  description: 'From nothing to the first explained decision. Each step can be done again later.',
  done: 'done',
  next: 'next',
  policy: {
    title: 'Create a policy',
    detail: 'Without a policy, only admins may do anything. Begin with a template, and change it later.',
    template: 'Template',
    create: 'Create the policy',
    has: (count: number) => (count === 1 ? 'There is 1 policy.' : `There are ${count} policies.`),
  },
  assign: {
    title: 'Assign it to a role',
    detail: 'A policy applies to the users and roles that it is assigned to.',
    policy: 'Policy',
    role: 'Role',
    assign: 'Assign',
    assigned: (policy: string, role: string) => `${policy} is assigned to ${role}.`,
  },
  simulate: {
    title: 'Ask what it decides',
    detail: 'The simulator explains any request before a user sends it.',
    open: 'Open the simulator',
  },
  decision: {
    title: 'See your first decision',
    detail: 'Every request leaves an entry that can be explained, also years later.',
    none: 'No request of a user has been decided yet. Send one, or open the records.',
    open: 'Open the newest decision',
    data: 'Open the records',
  },
  skip: 'Go to the overview',
} as const;
