import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { downloadFile } from '../../api/download.ts';
import { type ActionName, effectOf, type OwnResource } from '../../api/own-resources.ts';
import { ActionMenu } from '../../components/ActionMenu.tsx';
import { Dialog } from '../../components/Dialog.tsx';
import { GuardedButton } from '../../components/GuardedButton.tsx';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { dataTexts as texts } from '../../texts/data.ts';
import type { ImportFormProps } from './import/ImportForm.tsx';
import type { RecordsSearch } from './search.ts';

const importForm = createPart<ImportFormProps>(async () => (await import('./import/ImportForm.tsx')).ImportForm);

/** The actions on a resource: create, import, export. An action that is denied says so. */
export function RecordActions({ resource, search }: { readonly resource: OwnResource; readonly search: RecordsSearch }) {
  const { name } = resource.definition;
  const navigate = useNavigate();
  const [isImporting, importing] = useDisclosure(false);
  return (
    <>
      <GuardedButton variant="default" refusal={refusalOf(resource, 'import')} onClick={importing.open}>
        {texts.import}
      </GuardedButton>
      <ExportButton resource={resource} search={search} />
      <GuardedButton
        refusal={refusalOf(resource, 'create')}
        onClick={() => void navigate({ to: '/data/$resource/new', params: { resource: name } })}
      >
        {texts.create}
      </GuardedButton>
      <Dialog opened={isImporting} onClose={importing.close} title={`${texts.importing.title} · ${name}`} size="lg">
        <LazyPart part={importForm} props={{ resource: name }} lines={4} />
      </Dialog>
    </>
  );
}

/** Returns the reason why the caller may not perform an action; undefined if a rule may allow it. */
function refusalOf(resource: OwnResource, action: ActionName): string | undefined {
  return effectOf(resource, action) === 'deny' ? texts.refused(action) : undefined;
}

function ExportButton({ resource, search }: { readonly resource: OwnResource; readonly search: RecordsSearch }) {
  const { name } = resource.definition;
  const { mutate, error, isPending, reset } = useMutation({
    mutationFn: (format: string) => {
      const url = new URL(`/api/${encodeURIComponent(name)}/export`, location.origin);
      url.searchParams.set('format', format);
      const { where, sort } = search;
      return downloadFile({
        url,
        method: 'POST',
        body: { ...(where && { where }), ...(sort !== undefined && { sort }) },
        name: `${name}.${format}`,
      });
    },
  });
  const refusal = refusalOf(resource, 'export');
  if (refusal !== undefined) {
    return (
      <GuardedButton variant="default" refusal={refusal} onClick={() => undefined}>
        {texts.export}
      </GuardedButton>
    );
  }
  return (
    <>
      <ActionMenu
        actions={['csv', 'ndjson', 'json'].map((format) => ({ key: format, label: format.toUpperCase(), perform: () => mutate(format) }))}
        button={(props) => (
          <Button variant="default" loading={isPending} {...props}>
            {texts.export}
          </Button>
        )}
      />
      <Dialog opened={error !== null} onClose={reset} title={texts.export}>
        <ProblemAlert error={error} />
      </Dialog>
    </>
  );
}
