import { sentence } from './sentence.ts';

/** Texts of the list of policies, of imports and of deleted policies. */
export const policiesTexts = {
  title: 'Policies',
  new: 'New policy',
  import: 'Import',
  export: 'Export',
  changes: 'All changes',
  list: 'Policies',
  search: 'Search names and descriptions',
  filters: {
    type: 'Type',
    resource: 'Resource',
    tag: 'Tag',
    state: 'State',
    assignedTo: 'Assigned to role',
    any: 'any',
    active: 'active',
    inactive: 'not active',
    clear: 'Clear filters',
  },
  columns: {
    name: 'Name',
    type: 'Type',
    rules: 'Rules',
    resources: 'Resources',
    assigned: 'Assigned to',
    priority: 'Priority',
    changed: 'Last change',
    findings: 'Findings',
  },
  select: (name: string) => sentence`Select ${name}`,
  users: (count: number) => (count === 1 ? '1 user' : sentence`${count} users`),
  unassigned: 'no role or user',
  managed: 'file',
  managedBy: (file: string) => sentence`Managed by ${file}`,
  notCounted: 'The findings are not counted yet.',
  findings: (count: number) => (count === 1 ? '1 finding' : sentence`${count} findings`),
  types: { ROLE_BASED: 'role based', ATTRIBUTE_BASED: 'attribute based', CUSTOM: 'custom' },
  empty: { title: 'There are no policies yet', detail: 'Without policies, only administrators have access.' },
  noMatch: { title: 'No policy matches the filters' },
  bulk: {
    activateWord: (count: number) => sentence`activate ${count}`,
    deactivateWord: (count: number) => sentence`deactivate ${count}`,
    selected: (count: number) => (count === 1 ? '1 policy selected' : sentence`${count} policies selected`),
    activate: 'Activate',
    deactivate: 'Deactivate',
    activateTitle: (count: number) => (count === 1 ? 'Activate 1 policy?' : sentence`Activate ${count} policies?`),
    deactivateTitle: (count: number) => (count === 1 ? 'Deactivate 1 policy?' : sentence`Deactivate ${count} policies?`),
    activateDetail: 'Their rules are evaluated for the users and roles that they are assigned to, from the next request on.',
    deactivateDetail:
      'None of their rules is evaluated from the next request on. Requests that only they allow are denied; requests that their DENY rules refuse may be allowed.',
    activated: (count: number) => (count === 1 ? '1 policy was activated.' : sentence`${count} policies were activated.`),
    deactivated: (count: number) => (count === 1 ? '1 policy was deactivated.' : sentence`${count} policies were deactivated.`),
    managed: (names: readonly string[]) =>
      sentence`Only their files change ${names.slice(0, 3).join(', ')}${names.length > 3 ? sentence` and ${names.length - 3} more` : ''}. Change the files, or select other policies.`,
    failed: (done: number, failed: number, first: string) => sentence`${done} changed, ${failed} refused; the first refusal: ${first}`,
  },
} as const;

/** Texts of an import. */
export const importTexts = {
  title: 'Import policies',
  description:
    'A file of an export: JSON, or NDJSON with one policy per line. Policies are identified by name; existing assignments are kept.',
  file: 'File',
  choose: 'Choose a file',
  noFile: 'Choose a file first',
  check: 'Check without storing',
  checked: 'This import would make these changes. Nothing was stored.',
  unchanged: (count: number) =>
    count === 1 ? '1 policy is already as in the file.' : sentence`${count} policies are already as in the file.`,
  assigned: (count: number) =>
    count === 1 ? '1 assignment is created or changed.' : sentence`${count} assignments are created or changed.`,
  created: 'new',
  updated: 'changed',
  more: (count: number) => sentence`${count} more policies change. Only the first are shown.`,
  nothing: 'The file changes nothing.',
  apply: (count: number) => (count === 1 ? 'Import 1 policy' : sentence`Import ${count} policies`),
  applyAssignments: 'Import the assignments',
  done: (summary: string) => sentence`The policies were imported: ${summary}.`,
} as const;

/** Texts of the changes of all policies. */
export const changesTexts = {
  title: 'Changes of policies',
  description: 'Every change of a policy or an assignment, newest first. Deleted policies can be restored.',
  empty: { title: 'No policy has been changed yet' },
} as const;

/** Texts of the creation of a policy. */
export const newPolicyTexts = {
  title: 'New policy',
  template: 'Start from',
  empty: 'Empty policy',
  emptyDetail: 'No rules yet.',
} as const;
