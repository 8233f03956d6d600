import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type ActionName, effectOf, type OwnResource } from '../../api/own-resources.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { ExportButton } from '../../components/export/ExportButton.tsx';
import type { ExportRequest } from '../../components/export/useExport.ts';
import { GuardedButton } from '../../components/GuardedButton.tsx';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { dataTexts as texts } from '../../texts/data.ts';
import { sentence } from '../../texts/sentence.ts';
import type { ImportFormProps } from './import/ImportForm.tsx';
import type { RecordsSearch } from './search.ts';

const importForm = createPart<ImportFormProps>(async () => (await import('./import/ImportForm.tsx')).ImportForm);

/** The actions on a resource: create, import, export. An action that is denied says so. */
export function RecordActions({ resource, search }: { readonly resource: OwnResource; readonly search: RecordsSearch }) {
  const { name } = resource.definition;
  const navigate = useNavigate();
  const [isImporting, importing] = useDisclosure(false);
  const [isBusy, setBusy] = useState(false);
  return (
    <>
      <GuardedButton variant="default" refusal={refusalOf(resource, 'import')} onClick={importing.open}>
        {texts.import}
      </GuardedButton>
      <RecordExport resource={resource} search={search} />
      <GuardedButton
        refusal={refusalOf(resource, 'create')}
        onClick={() => void navigate({ to: '/data/$resource/new', params: { resource: name } })}
      >
        {texts.create}
      </GuardedButton>
      {/* Closing it would stop an import that runs, which has a button of its own. */}
      <Dialog
        opened={isImporting}
        onClose={importing.close}
        title={sentence`${texts.importing.title} · ${name}`}
        size="lg"
        isBusy={isBusy}
        closeOnClickOutside={false}
      >
        <LazyPart part={importForm} props={{ resource: name, onRunning: setBusy }} lines={4} />
      </Dialog>
    </>
  );
}

/** Returns the reason why the caller may not perform an action; undefined if a rule may allow it. */
function refusalOf(resource: OwnResource, action: ActionName): string | undefined {
  return effectOf(resource, action) === 'deny' ? texts.refused(action) : undefined;
}

function RecordExport({ resource, search }: { readonly resource: OwnResource; readonly search: RecordsSearch }) {
  const { name } = resource.definition;
  const toRequest = (format: ExportRequest['format']): ExportRequest => {
    const url = new URL(`/api/${encodeURIComponent(name)}/export`, location.origin);
    url.searchParams.set('format', format);
    const { where, sort } = search;
    return { url, method: 'POST', body: { ...(where && { where }), ...(sort !== undefined && { sort }) }, name, format };
  };
  return (
    <ExportButton
      formats={['csv', 'ndjson', 'json']}
      refusal={refusalOf(resource, 'export') ?? (search.deleted === true ? texts.notExported : undefined)}
      toRequest={toRequest}
    />
  );
}
