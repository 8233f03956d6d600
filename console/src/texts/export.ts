import { sentence } from './sentence.ts';

const rowsOf = (rows: number): string => (rows === 1 ? '1 row' : sentence`${rows.toLocaleString()} rows`);

/** Texts of exports. */
export const exportTexts = {
  label: 'Export',
  progress: (rows: number, bytes: string) => sentence`${rowsOf(rows)}, ${bytes} so far`,
  saved: (rows: number, bytes: string) => sentence`The file was saved: ${rowsOf(rows)}, ${bytes}.`,
  failed: (rows: number, bytes: string) =>
    rows === 0 && bytes === '0 B' ? 'No file was saved.' : sentence`No file was saved. ${rowsOf(rows)}, ${bytes}, had arrived.`,
  incomplete: {
    title: 'The export ended early',
    detail: 'The service or the network has ended it. A permission that was revoked and a session that has ended have this effect too.',
  },
} as const;
