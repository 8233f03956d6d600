import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { downloadFile } from '../../api/download.ts';
import { ActionMenu } from '../../components/ActionMenu.tsx';
import { Dialog } from '../../components/Dialog.tsx';
import { GuardedButton } from '../../components/GuardedButton.tsx';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { decisionsTexts } from '../../texts/decisions.ts';
import { toFilters, toParameters } from './filters.ts';
import type { DecisionsSearch } from './search.ts';

const texts = decisionsTexts.export;

/** Properties of the export. */
interface ExportMenuProps {
  readonly search: DecisionsSearch;
  readonly now: number;
  /** True if no rule allows the user to export. */
  readonly isDenied: boolean;
}

/** Exports all entries that match the filters. */
export function ExportMenu({ search, now, isDenied }: ExportMenuProps) {
  const [bytes, setBytes] = useState(0);
  const { mutate, error, isPending, reset } = useMutation({
    mutationFn: (format: 'csv' | 'ndjson') => {
      const url = new URL('/admin/api/decisions/export', location.origin);
      for (const [name, value] of toParameters(toFilters(search, now))) url.searchParams.set(name, value);
      url.searchParams.set('format', format);
      return downloadFile({ url, name: `decisions.${format}`, onBytes: setBytes });
    },
  });
  if (isDenied) {
    return (
      <GuardedButton variant="default" refusal={texts.denied} onClick={() => undefined}>
        {texts.label}
      </GuardedButton>
    );
  }
  return (
    <>
      <ActionMenu
        actions={(['csv', 'ndjson'] as const).map((format) => ({ key: format, label: texts[format], perform: () => mutate(format) }))}
        button={(props) => (
          <Button variant="default" loading={isPending} {...props}>
            {isPending ? texts.running(`${Math.round(bytes / 1024)} KiB`) : texts.label}
          </Button>
        )}
      />
      <Dialog opened={error !== null} onClose={reset} title={texts.label}>
        <ProblemAlert error={error} />
      </Dialog>
    </>
  );
}
