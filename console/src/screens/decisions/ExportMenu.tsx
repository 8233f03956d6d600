import { ExportButton } from '../../components/export/ExportButton.tsx';
import type { ExportRequest } from '../../components/export/useExport.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { toFilters, toParameters } from './filters.ts';
import type { DecisionsSearch } from './search.ts';

/** Properties of the export. */
interface ExportMenuProps {
  readonly search: DecisionsSearch;
  readonly now: number;
  /** True if no rule allows the user to export. */
  readonly isDenied: boolean;
}

/** Exports all entries that match the filters. */
export function ExportMenu({ search, now, isDenied }: ExportMenuProps) {
  const toRequest = (format: ExportRequest['format']): ExportRequest => {
    const url = new URL('/admin/api/decisions/export', location.origin);
    for (const [name, value] of toParameters(toFilters(search, now))) url.searchParams.set(name, value);
    url.searchParams.set('format', format);
    return { url, name: 'decisions', format };
  };
  return <ExportButton formats={['csv', 'ndjson']} refusal={isDenied ? decisionsTexts.export.denied : undefined} toRequest={toRequest} />;
}
