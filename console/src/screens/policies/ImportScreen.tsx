import { Alert, Badge, Button, Card, FileInput, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmModal } from '../../components/ConfirmModal.tsx';
import { GuardedButton } from '../../components/GuardedButton.tsx';
import { notifySuccess } from '../../components/notify.ts';
import { Page } from '../../components/Page.tsx';
import { PolicyDiff } from '../../components/PolicyDiff.tsx';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { useScreenWatch } from '../../components/useScreenWatch.ts';
import { commonTexts } from '../../texts/common.ts';
import { importTexts as texts } from '../../texts/policies.ts';
import { type ImportAnswer, importFile } from './import-policies.ts';

/** Imports policies from a file: first a dry run, whose differences are shown, then the import. */
export function ImportScreen() {
  const [file, setFile] = useState<File | null>(null);
  const check = useMutation({ mutationFn: (chosen: File) => importFile(chosen, { isDryRun: true }) });
  return (
    <Page title={texts.title} description={texts.description}>
      <Group align="end">
        <FileInput
          label={texts.file}
          placeholder={texts.choose}
          accept=".json,.ndjson,application/json,application/x-ndjson"
          clearable
          clearButtonProps={{ 'aria-label': commonTexts.clear }}
          w={320}
          value={file}
          onChange={(chosen) => {
            setFile(chosen);
            check.reset();
          }}
        />
        <GuardedButton
          refusal={file === null ? texts.noFile : undefined}
          loading={check.isPending}
          onClick={() => file !== null && check.mutate(file)}
        >
          {texts.check}
        </GuardedButton>
      </Group>
      {check.error !== null && <ProblemAlert error={check.error} onRetry={() => file !== null && check.mutate(file)} />}
      {file !== null && check.data !== undefined && <CheckedImport file={file} answer={check.data} />}
    </Page>
  );
}

function CheckedImport({ file, answer }: { readonly file: File; readonly answer: ImportAnswer }) {
  const [isConfirming, setConfirming] = useState(false);
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { changes = [], created, updated, unchanged, assigned } = answer.data;
  const count = created + updated;
  const watch = useScreenWatch();
  const perform = async (reason: string | undefined) => {
    const isOpen = watch();
    const { message } = await importFile(file, { isDryRun: false, reason });
    await queryClient.invalidateQueries({ queryKey: ['policies'] });
    notifySuccess(texts.done(message));
    if (isOpen()) await navigate({ to: '/policies' });
  };
  if (count + assigned === 0) return <Alert color="gray">{texts.nothing}</Alert>;
  const action = count === 0 ? texts.applyAssignments : texts.apply(count);
  return (
    <Stack>
      <Alert color="blue" title={texts.checked}>
        {unchanged > 0 && <Text size="sm">{texts.unchanged(unchanged)}</Text>}
        {assigned > 0 && <Text size="sm">{texts.assigned(assigned)}</Text>}
      </Alert>
      {changes.map(({ name, result, differences }) => (
        <Card key={name} withBorder>
          <Group mb="xs">
            <Text fw={600}>{name}</Text>
            <Badge color={result === 'created' ? 'green' : 'blue'}>{texts[result]}</Badge>
          </Group>
          <PolicyDiff differences={differences} />
        </Card>
      ))}
      {count > changes.length && <Text c="dimmed">{texts.more(count - changes.length)}</Text>}
      <Group>
        <Button onClick={() => setConfirming(true)}>{action}</Button>
      </Group>
      <ConfirmModal
        isOpen={isConfirming}
        title={texts.title}
        action={action}
        takesReason
        perform={perform}
        onClose={() => setConfirming(false)}
      />
    </Stack>
  );
}
