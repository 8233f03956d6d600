import { Badge, Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { bodyOf, client } from '../../api/client.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { decisionsTexts } from '../../texts/decisions.ts';

const texts = decisionsTexts.verify;

interface Verified {
  readonly entries: number;
  readonly breaks: number;
}

/** Verifies the hash chains of the audit log, page by page, and shows the result. */
export function IntegrityButton() {
  const [checked, setChecked] = useState(0);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const { mutate, data, error, isPending, reset } = useMutation({
    mutationFn: () => {
      running.current = new AbortController();
      setChecked(0);
      return verifyAll(setChecked, running.current.signal);
    },
  });
  return (
    <>
      {data && (
        <Badge color={data.breaks === 0 ? 'green' : 'red'}>
          {data.breaks === 0 ? texts.whole(data.entries) : texts.broken(data.breaks)}
        </Badge>
      )}
      <Button variant="default" onClick={() => mutate()} loading={isPending} loaderProps={{ children: texts.running(checked) }}>
        {texts.label}
      </Button>
      <Dialog opened={error !== null} onClose={reset} title={texts.label}>
        <ProblemAlert error={error} onRetry={() => mutate()} />
      </Dialog>
    </>
  );
}

async function verifyAll(onProgress: (entries: number) => void, signal: AbortSignal): Promise<Verified> {
  let cursor: string | undefined;
  let entries = 0;
  let breaks = 0;
  do {
    const query = { limit: 10_000, ...(cursor !== undefined && { cursor }) };
    const { data, nextCursor } = await bodyOf(client.GET('/admin/api/decisions/verify', { params: { query }, signal }));
    entries += data.entries;
    breaks += data.breakCount;
    onProgress(entries);
    cursor = nextCursor;
  } while (cursor !== undefined);
  return { entries, breaks };
}
