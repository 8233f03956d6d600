import { Button, Menu, Modal } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { downloadFile } from '../../api/download.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { decisionsTexts } from '../../texts/decisions.ts';
import { type DecisionsSearch, toFilters } from './search.ts';

const texts = decisionsTexts.export;

/** Exports all entries that match the filters. */
export function ExportMenu({ search, now }: { readonly search: DecisionsSearch; readonly now: number }) {
  const [bytes, setBytes] = useState(0);
  const { mutate, error, isPending, reset } = useMutation({
    mutationFn: (format: 'csv' | 'ndjson') => {
      const url = new URL('/admin/api/decisions/export', location.origin);
      for (const [name, value] of Object.entries({ ...toFilters(search, now), format })) url.searchParams.set(name, String(value));
      return downloadFile({ url, name: `decisions.${format}`, onBytes: setBytes });
    },
  });
  return (
    <>
      <Menu>
        <Menu.Target>
          <Button variant="default" loading={isPending}>
            {isPending ? texts.running(`${Math.round(bytes / 1024)} KiB`) : texts.label}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {(['csv', 'ndjson'] as const).map((format) => (
            <Menu.Item key={format} onClick={() => mutate(format)}>
              {texts[format]}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Modal opened={error !== null} onClose={reset} title={texts.label}>
        <ProblemAlert error={error} />
      </Modal>
    </>
  );
}
