import { sentence } from './sentence.ts';

/** Texts of the preview. */
export const previewTexts = {
  title: 'Preview',
  description: 'Replays the audit log: what would the draft have decided differently? Nothing is changed.',
  noDraft: {
    title: 'There is no draft',
    detail: 'Change a policy in its editor and choose Preview there, or write a draft below.',
  },
  draft: 'Draft (JSON)',
  draftHelp: 'Changes of policies and assignments, as in POST /admin/api/policies/preview.',
  range: 'Entries of the',
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
  missing: 'Values that were not kept',
  filled: 'Filled with values of today',
  compare: 'Show both traces',
  json: 'expected a JSON object',
  warnings: 'The draft has consequences for admins',
} as const;
