import { sentence } from './sentence.ts';

/** The order of the three priorities, in the same words wherever one of them is shown. */
const PRIORITY_ORDER = 'rule priority, then policy priority, then role assignment priority';
const PRIORITY_HELP = sentence`Higher comes first: ${PRIORITY_ORDER}.`;

/** Texts of the screen of one policy. */
export const policyTexts = {
  tabs: { rules: 'Rules', text: 'JSON / YAML', preview: 'Preview', assignments: 'Assignments', history: 'History', findings: 'Findings' },
  inactive: 'not active',
  revision: (revision: number) => sentence`revision ${revision}`,
  revisionHelp: 'Revisions count all changes of policies and assignments, so those of one policy have gaps.',
  unsaved: 'unsaved changes',
  save: 'Save…',
  create: 'Create…',
  discard: 'Discard changes',
  delete: 'Delete',
  mistakes: (count: number) => (count === 1 ? '1 mistake' : sentence`${count} mistakes`),
  valid: 'no mistakes',
  checking: 'checking',
  otherMistakes: 'Mistakes',
  managed: {
    title: (file: string) => sentence`Managed by ${file}`,
    detail:
      'Change the file and run "bailiwick policies apply". Changes can be tried here with the preview and the simulator, but not saved.',
    refusal: (file: string) => sentence`The policy is managed by ${file}.`,
    role: (file: string) => sentence`listed in ${file}`,
  },
  newer: 'Another admin has changed this policy since it was opened.',
  details: {
    title: 'Policy',
    name: 'Name',
    emptyName: 'Enter a name',
    description: 'Description',
    type: 'Type',
    typeHelp: 'A label. Only custom policies may contain expressions.',
    priority: 'Priority',
    priorityHelp: PRIORITY_HELP,
    isActive: 'Active',
    tags: 'Tags',
  },
  rules: {
    title: 'Rules, in the order of decisions',
    order: sentence`The first rule whose conditions are met decides. Without one, access is denied. Rules of all policies are ordered by ${PRIORITY_ORDER}; if all are equal, DENY comes before ALLOW.`,
    empty: { title: 'This policy has no rules', detail: 'A policy without rules decides nothing.' },
    notAList: 'The rules are not a list. Correct them in the text.',
    add: 'Add a rule',
    addFirst: 'Add the first rule',
    edit: 'Edit',
    done: 'Done',
    remove: 'Remove the rule',
    duplicate: 'Duplicate',
    resource: 'Resource',
    anyResource: '* (all resources)',
    action: 'Action',
    anyAction: '* (all actions)',
    effect: 'Effect',
    priority: 'Priority',
    priorityHelp: PRIORITY_HELP,
    isActive: 'Active',
    description: 'Description',
    conditions: 'Conditions: all must be true',
    raw: 'The form cannot show this rule. Correct it in the text.',
    sentence: (action: string, resource: string) => sentence`${action} on ${resource}`,
    every: { action: 'every action', resource: 'every resource' },
    when: 'if',
  },
  text: {
    format: 'Format',
    label: 'Policy as text',
    notAnObject: 'A policy is an object with name, type and rules.',
    invalid: 'The text cannot be read. The preview and the simulator use the last version that could be.',
    unreadable: 'The text cannot be read',
    correct:
      'It can be saved, and changed with the forms, when it is corrected. If you discard it, the last version that could be read remains.',
    open: 'Open the text',
    discard: 'Discard the text',
  },
  kept: {
    title: 'You have unsaved changes of this policy',
    detail: 'The page was left before they were saved. This tab has kept them.',
    restore: 'Restore the changes',
    discard: 'Discard them',
  },
  previewing: {
    empty: {
      title: 'There is nothing to preview',
      detail: 'The preview replays the recorded decisions under unsaved changes. Saved changes can be compared in the history.',
    },
    change: 'Change the rules',
    compare: 'Compare with the previous revision',
    assume: 'Assume that the policy is assigned to',
    unassigned:
      'Choose the role or user that the policy is assumed to be assigned to: without an assignment, its rules apply to no request.',
    detail: 'Replays the audit log under your unsaved changes: what would they have decided differently? Nothing is stored.',
    onlyRecorded:
      'Only recorded requests are replayed: an action that was never requested is missing, even if your changes allow or deny it.',
    simulator: 'Ask the simulator under these changes, in a new tab',
    several: 'Preview them together with other changes, in a new tab',
  },
  saving: {
    title: 'Save the changes',
    createTitle: 'Create the policy',
    differences: 'This changes:',
    save: 'Save',
    create: 'Create',
    saved: 'The policy was saved.',
    created: 'The policy was created.',
    mistakes: 'The policy has mistakes. Correct them first.',
    gone: 'This policy no longer exists',
    goneDetail: 'Another admin has deleted it. Restore it from all changes, or copy your draft from the tab JSON / YAML into a new policy.',
    allChanges: 'All changes',
    nothing: 'The draft means the same as the stored policy. There is nothing to save.',
    warnings: 'The linter will warn:',
  },
  merging: {
    title: 'Another admin has changed this policy',
    detail: 'Your changes are kept. Choose a version where both of you have changed the same member or rule.',
    takenOver: (count: number) =>
      count === 1 ? '1 other change of theirs is taken over.' : sentence`${count} other changes of theirs are taken over.`,
    none: 'Your changes and theirs do not conflict.',
    mine: 'Mine',
    theirs: 'Theirs',
    base: 'Before',
    absent: '(removed)',
    apply: 'Merge',
    merged: 'The newer version is merged into your draft. Save it when it is complete.',
    choose: (name: string) => sentence`Version of ${name}`,
    asText: 'Merge as text',
    textDetail:
      'The merged text, with its differences from the stored version of the other admin. Take theirs for a difference, or edit the text.',
    textLabel: 'Merged policy as text',
    takeTheirs: 'Take theirs',
    keepMine: 'Keep mine',
  },
  deleting: {
    title: (name: string) => sentence`Delete ${name}?`,
    detail:
      'Its rules and assignments end with the next request. Its history is kept, and it can be restored from the changes of policies. Assignments are restored on request.',
    done: 'The policy was deleted.',
  },
  assignments: {
    list: 'Assignments',
    none: { title: 'Not assigned yet', detail: 'Its rules apply to no request until it is assigned to a role or a user.' },
    empty: { title: 'The policy is assigned to no role and no user', detail: 'Its rules apply to no request.' },
    columns: { to: 'Assigned to', expires: 'Expires', state: 'State', by: 'By', actions: 'Actions', policy: 'Policy' },
    role: (role: string) => sentence`role ${role}`,
    never: 'never',
    expired: 'expired',
    active: 'active',
    inactive: 'not active',
    add: 'Assign',
    addTitle: 'Assign the policy',
    to: 'To',
    kinds: { role: 'a role', user: 'a user' },
    roleField: 'Role',
    user: 'User',
    expiry: 'Expires',
    expiryHelp: 'Local time. Empty: no expiry.',
    priority: 'Priority',
    priorityHelp: PRIORITY_HELP,
    expiryAction: 'Change the expiry',
    done: 'The policy was assigned.',
    changed: 'The assignment was changed.',
    revoke: 'Revoke',
    revokeOf: (name: string) => sentence`Revoke the assignment to ${name}`,
    revokeTitle: (name: string) => sentence`Revoke the assignment to ${name}?`,
    revokeDetail: 'From the next request on, none of the rules of this policy applies to them by this assignment.',
    revoked: 'The assignment was revoked.',
  },
  history: {
    list: 'Changes, newest first',
    changes: { created: 'created', updated: 'changed', deleted: 'deleted', restored: 'restored' },
    subjects: { policy: 'policy', assignment: 'assignment' },
    show: 'Show the differences from the current revision',
    hide: 'Hide the differences',
    current: 'current revision',
    rolledBackTo: (revision: number) => sentence`rolled back to revision ${revision}`,
    unsaved: 'A rollback would replace your unsaved changes. Save or discard them first.',
    rules: { restore: 'Restore this rule', remove: 'Remove this rule' },
    restoredRules: {
      restore: 'The draft has the earlier rule. Save it to apply it.',
      remove: 'The draft no longer has the rule. Save it to apply it.',
    },
    rollback: 'Roll back to this revision',
    restore: 'Restore the policy',
    rollbackTitle: (revision: number) => sentence`Roll back to revision ${revision}?`,
    restoreTitle: (name: string) => sentence`Restore ${name}?`,
    rollbackDetail: 'The rules and all other members become those of that revision. The history keeps the revisions between.',
    rollbackChanges: 'This changes:',
    restoreUnassigned: 'Without its assignments, it applies to no request and changes no decision.',
    assignmentsNotCompared: 'What follows does not include the changes of assignments.',
    restoreDetail: 'The policy is created again as it was before it was deleted.',
    assignments: 'Also restore the assignments of that time, and revoke those that were added since',
    reasonHelp: 'Other admins read it in the history.',
    noReason: 'Enter a reason',
    rolledBack: 'The policy was rolled back.',
    restored: 'The policy was restored.',
    sameAssignments: 'The assignments are those of that time already.',
    triedAssignments: {
      restored: (count: number) => (count === 1 ? 'Restores 1 assignment:' : sentence`Restores ${count} assignments:`),
      revoked: (count: number) =>
        count === 1 ? 'Revokes 1 assignment, which was added since:' : sentence`Revokes ${count} assignments, which were added since:`,
      skipped: (count: number) =>
        count === 1
          ? 'Cannot restore 1 assignment, because its user no longer exists:'
          : sentence`Cannot restore ${count} assignments, because their users no longer exist:`,
    },
    doneAssignments: {
      restored: (count: number) => (count === 1 ? '1 assignment was restored:' : sentence`${count} assignments were restored:`),
      revoked: (count: number) => (count === 1 ? '1 assignment was revoked:' : sentence`${count} assignments were revoked:`),
      skipped: (count: number) =>
        count === 1
          ? '1 assignment was not restored, because its user no longer exists:'
          : sentence`${count} assignments were not restored, because their users no longer exist:`,
    },
    moreAssignments: (count: number) => (count === 1 ? 'and 1 other' : sentence`and ${count} others`),
  },
  findings: {
    empty: { title: 'No findings', detail: 'The linter finds nothing that is probably wrong.' },
    showRules: 'Show the rules',
    open: 'Open the member',
    openAssignments: 'Open the assignments',
    of: (rule: string) => sentence`rule ${rule}`,
    other: 'the other rule',
  },
} as const;

/** Texts of the screen of all findings. */
export const findingsTexts = {
  title: 'Findings',
  description: 'Rules that are valid but probably wrong, and what to do.',
  code: 'Kind of finding',
  all: 'Show all kinds',
  any: 'any',
  empty: { title: 'No findings', detail: 'The linter finds nothing that is probably wrong.' },
} as const;

/** Texts of the screen of all assignments. */
export const assignmentsTexts = {
  title: 'Assignments',
  description: 'Policies apply to the users and roles that they are assigned to.',
  filters: {
    role: 'Role',
    user: 'User',
    state: 'State',
    expires: 'Expires',
    any: 'any',
    week: 'within 7 days',
    month: 'within 30 days',
    past: 'has expired',
    clear: 'Clear filters',
  },
  assign: { action: 'Assign a policy', detail: 'The next step asks for the role or user.', policy: 'Policy', next: 'Continue' },
  empty: { title: 'No assignment matches' },
  select: (name: string) => sentence`Select the assignment to ${name}`,
  selected: (count: number) => (count === 1 ? '1 assignment selected' : sentence`${count} assignments selected`),
  revoke: 'Revoke',
  /** The word that confirms a revocation. */
  word: (count: number) => sentence`revoke ${count}`,
  managed: (count: number, { name, policyName }: { name: string; policyName: string }) =>
    count === 1
      ? sentence`Policy files manage the assignment of ${policyName} to ${name}. Change the file and run "bailiwick policies apply".`
      : sentence`Policy files manage ${count} of these assignments, such as that of ${policyName} to ${name}. Change the files and run "bailiwick policies apply".`,
  revokeTitle: (count: number) => (count === 1 ? 'Revoke 1 assignment?' : sentence`Revoke ${count} assignments?`),
  revokeDetail:
    'All are revoked, or none. From the next request on, requests that only these assignments allow are denied; requests that only DENY rules of these policies refuse are allowed again.',
  revoked: (count: number) => (count === 1 ? '1 assignment was revoked.' : sentence`${count} assignments were revoked.`),
} as const;
