import { Button, Menu, Modal, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { downloadFile } from '../../api/download.ts';
import { DISABLED } from '../../components/disabled.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { dataTexts as texts } from '../../texts/data.ts';
import { ImportForm } from './import/ImportForm.tsx';
import { type ActionName, effectOf, type OwnResource } from './queries.ts';
import type { RecordsSearch } from './search.ts';

/** The actions on a resource: create, import, export. An action that is denied says so. */
export function RecordActions({ resource, search }: { readonly resource: OwnResource; readonly search: RecordsSearch }) {
  const { name } = resource.definition;
  const navigate = useNavigate();
  const [isImporting, importing] = useDisclosure(false);
  return (
    <>
      <GuardedButton resource={resource} action="import" label={texts.import} onClick={importing.open} />
      <ExportButton resource={resource} search={search} />
      <GuardedButton
        resource={resource}
        action="create"
        label={texts.create}
        isPrimary
        onClick={() => void navigate({ to: '/data/$resource/new', params: { resource: name } })}
      />
      <Modal opened={isImporting} onClose={importing.close} title={`${texts.importing.title} · ${name}`} size="lg">
        <ImportForm resource={name} />
      </Modal>
    </>
  );
}

interface GuardedButtonProps {
  readonly resource: OwnResource;
  readonly action: ActionName;
  readonly label: string;
  readonly isPrimary?: boolean;
  onClick(): void;
}

/** A button that says why it does nothing if its action is denied. */
function GuardedButton({ resource, action, label, isPrimary = false, onClick }: GuardedButtonProps) {
  const isDenied = effectOf(resource, action) === 'deny';
  return (
    <Tooltip label={texts.refused(action)} disabled={!isDenied}>
      <Button variant={isPrimary ? 'filled' : 'default'} {...(isDenied && DISABLED)} onClick={() => !isDenied && onClick()}>
        {label}
      </Button>
    </Tooltip>
  );
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
  if (effectOf(resource, 'export') === 'deny')
    return <GuardedButton resource={resource} action="export" label={texts.export} onClick={() => undefined} />;
  return (
    <>
      <Menu>
        <Menu.Target>
          <Button variant="default" loading={isPending}>
            {texts.export}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {['csv', 'ndjson', 'json'].map((format) => (
            <Menu.Item key={format} onClick={() => mutate(format)}>
              {format.toUpperCase()}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Modal opened={error !== null} onClose={reset} title={texts.export}>
        <ProblemAlert error={error} />
      </Modal>
    </>
  );
}
