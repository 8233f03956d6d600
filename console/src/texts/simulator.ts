import { sentence } from './sentence.ts';

/** Texts of the simulator. */
export const simulatorTexts = {
  title: 'Simulator',
  description: 'Ask what the policies decide for any request. Nothing is changed; the question itself is recorded.',
  user: 'User',
  userHelp: 'Empty: a caller without a token.',
  role: 'Role instead of the stored one',
  attributes: 'Other attributes (JSON)',
  attributesHelp: 'Replace those of the stored user, for example {"department": "sports"}.',
  resource: 'Resource',
  record: 'Record',
  recordHelp: 'Empty: any record. The decision may then depend on the record.',
  fields: 'Other fields of the record (JSON)',
  fieldsHelp: 'Replace those of the record. Without a record: a record that has only these.',
  action: 'Action',
  data: 'Values of the request (JSON)',
  more: 'Role, time and address',
  time: 'Time',
  timeHelp: 'Empty: now.',
  now: 'Now',
  ip: 'Address',
  submit: 'Decide',
  json: 'expected a JSON object',
  outdated: 'The question has changed. Press Decide for its answer.',
  unrecorded: (fields: string) =>
    sentence`The values of ${fields} were not recorded: enter them in the values of the request to ask the same.`,
  shareable: 'The address of this page contains the question: share it.',
  shareableDraft: (isInAddress: boolean) =>
    isInAddress
      ? 'The address of this page contains the question and the draft: share it.'
      : 'The address of this page contains the question. The draft is too long for an address: it stays in this tab.',
  difference: {
    same: 'The draft decides the same.',
    allows: 'The draft allows more than the policies in force.',
    denies: 'The draft denies what the policies in force allow.',
    condition: 'The draft allows this under another condition.',
    rule: 'The draft decides the same, by another rule.',
  },
  copyCurl: 'Copy as curl',
  command: 'Command',
  notCopied: 'The browser does not copy on this page. Copy the text yourself.',
  matched: (policy: string) => sentence`Decided by ${policy}`,
  conditional: 'depends on the record',
  chooseRecord: 'Choose a record to see the decision on it.',
  emptyTitle: 'No question yet',
  emptyDetail: 'Choose a resource and an action.',
  example: (resource: string) => sentence`Ask if you may list ${resource}`,
} as const;
