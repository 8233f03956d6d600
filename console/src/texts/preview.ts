import { sentence } from './sentence.ts';

/** Texts of the preview. */
export const previewTexts = {
  title: 'Preview',
  description: 'Replays the audit log: what would the draft have decided differently? Nothing is changed.',
  noDraft: {
    title: 'There is no draft',
    detail: 'Write changes of several policies and assignments below. Those of one policy have a preview in its editor.',
  },
  draft: 'Draft (JSON)',
  draftHelp: 'Changes of policies and assignments, as in POST /admin/api/policies/preview.',
  range: 'Time of the entries',
  fill: 'Fill values that were not kept with those of today',
  run: 'Replay',
  stop: 'Stop',
  running: (count: number) => sentence`${count.toLocaleString()} decisions replayed`,
  classes: {
    same: 'same',
    allowToDeny: 'allowed before, denied now',
    denyToAllow: 'denied before, allowed now',
    changed: 'other condition',
    unknown: 'unknown',
  },
  explain: {
    same: 'The draft decides the same.',
    allowToDeny: 'Requests that the draft would deny.',
    denyToAllow: 'Requests that the draft would allow.',
    changed: 'Lists that the draft would filter by another condition.',
    unknown: 'The audit log did not keep a value that these decisions depend on, so they are not safe to call unchanged.',
  },
  none: 'No decision of this kind.',
  count: (count: number) => sentence`${count.toLocaleString()} ×`,
  recorded: 'Recorded',
  live: 'In force',
  draftSide: 'Draft',
  conditional: 'depends on the record',
  allowedIf: 'Allowed if',
  missing: 'Values that were not kept',
  filled: 'Filled with values of today',
  compare: 'Show both traces',
  json: 'expected a JSON object',
  unreadable: 'The draft is not a JSON object.',
  recordedTitle: 'Recorded decisions of the last 7 days',
  replaying: 'Replaying recorded decisions',
  recordedSame: (count: number) =>
    count === 0 ? 'No decision was recorded.' : sentence`The newest ${count.toLocaleString()} stay the same.`,
  recordedOf: (count: number) => sentence`Of the newest ${count.toLocaleString()}:`,
  recordedChange: {
    allowToDeny: (count: number) => sentence`${count.toLocaleString()} would be denied:`,
    denyToAllow: (count: number) => sentence`${count.toLocaleString()} would be allowed:`,
    changed: (count: number) => sentence`${count.toLocaleString()} would depend on another condition:`,
    unknown: (count: number) =>
      sentence`${count.toLocaleString()} ${count === 1 ? 'is' : 'are'} unknown, because the audit log did not keep a value:`,
  },
  moreGroups: (count: number) => (count === 1 ? 'and 1 other group' : sentence`and ${count} other groups`),
  warnings: 'The draft has consequences for admins',
} as const;
