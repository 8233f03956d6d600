import { sentence } from './sentence.ts';

/** Texts of screens that try a draft. */
export const draftTexts = {
  title: 'Draft',
  inForce: 'Policies in force',
  withDraft: 'With the draft',
  discard: 'Discard the draft',
  leaveOut: 'Leave out the draft',
  leftOut: 'Only the policies in force decide. A draft is left out.',
  of: (policies: string) => (policies === '' ? 'With a draft of policies.' : sentence`With the draft of ${policies}.`),
  compare: 'Compare with the draft',
  compareHelp: 'Unsaved changes of policies, or those of the link that you opened. Nothing is changed.',
  unreadable: { title: 'The draft of this address cannot be read', detail: 'A part of the address may be missing. Copy the whole link.' },
  tooLong: 'The draft is too long for an address: it stays in this tab.',
  inAddress: 'The address of this page contains the draft: share it.',
  same: 'the same',
  changedLines: (count: number) =>
    count === 0
      ? 'The draft changes nothing here.'
      : sentence`The draft changes ${count} ${count === 1 ? 'line' : 'lines'}, marked with →.`,
  changes: (count: number) =>
    count === 0
      ? 'The draft changes nothing here.'
      : sentence`The draft changes ${count} ${count === 1 ? 'cell' : 'cells'}, marked with →.`,
} as const;
