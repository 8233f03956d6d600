import { sentence } from './sentence.ts';

/** Texts of the first steps after the set-up. */
export const firstStepsTexts = {
  title: 'First steps',
  description: 'From nothing to the first explained decision. Each step can be done again later.',
  done: 'done',
  next: 'next',
  policy: {
    title: 'Create a policy',
    detail: 'Without a policy, only administrators have access. Begin with a template, and change it later.',
    template: 'Template',
    create: 'Create the policy',
    has: (count: number) => (count === 1 ? 'There is 1 policy.' : sentence`There are ${count} policies.`),
  },
  assign: {
    title: 'Assign it to a role',
    detail: 'A policy applies to the users and roles that it is assigned to.',
    policy: 'Policy',
    role: 'Role',
    assign: 'Assign',
    more: (count: number) => sentence`and ${count} more`,
    assigned: (policy: string, role: string) => sentence`${policy} is assigned to ${role}.`,
  },
  ask: {
    title: 'Ask what it decides',
    detail:
      'Any request can be asked about before a user sends it. The answer names the rule that decides or, for a denial, what would have allowed it.',
    action: 'Action',
    resource: 'Resource',
    submit: (role: string) => sentence`Decide for role ${role}`,
    answer: 'Answer',
    more: 'To ask about a user, a record or another time:',
    open: 'Open the simulator',
  },
  decision: {
    title: 'See your first decision',
    detail: 'Every request to records leaves an entry in the audit log that can be explained, also years later.',
    send: (resource: string) => sentence`List ${resource} and open the decision`,
    open: 'Open the newest decision',
  },
  after: {
    title: 'What to do next',
    items: [
      { to: '/users', label: 'Create a user', detail: 'who signs in at the address of this page and sees what the policies allow.' },
      { to: '/policies', label: 'Edit the policies', detail: 'the condition builder offers the fields of your definitions.' },
      { to: '/decisions', label: 'Look at denied requests', detail: 'each names the rule that would have allowed it.' },
    ],
  },
  skip: 'Go to the overview',
} as const;
