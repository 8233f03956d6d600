import { Alert, Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import { discardDraft, readDraft } from '../../api/draft.ts';
import { Explanation } from '../../components/decision/Explanation.tsx';
import { PolicyLink } from '../../components/PolicyLink.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { Verdict } from '../../components/Verdict.tsx';
import { commonTexts } from '../../texts/common.ts';
import { simulatorTexts as texts } from '../../texts/simulator.ts';
import { toCurl } from './search.ts';

type AccessTest = Schemas['admin.AccessTest'];

/** The answer to a question: the decision, and its explanation. If the tab has a draft, the answer under the draft stands below. */
export function TestedAccess({ test }: { readonly test: AccessTest }) {
  const [draft, setDraft] = useState(() => readDraft());
  return (
    <Stack>
      <Answer test={test} title={texts.inForce} />
      {draft && (
        <>
          <Answer test={{ ...test, draft }} title={texts.withDraft} />
          <Button
            variant="default"
            style={{ alignSelf: 'flex-start' }}
            onClick={() => {
              discardDraft();
              setDraft(undefined);
            }}
          >
            {texts.discardDraft}
          </Button>
        </>
      )}
      <Text size="xs" c="dimmed">
        {texts.shareable}
      </Text>
    </Stack>
  );
}

function Answer({ test, title }: { readonly test: AccessTest; readonly title: string }) {
  const tested = useQuery({
    queryKey: ['access test', test],
    queryFn: ({ signal }) => bodyOf(client.POST('/admin/api/policies/test-access', { body: test, signal })),
    // An answer is true at its moment only.
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <Paper withBorder p="md">
      <QueryState query={tested} lines={10}>
        {({ data, warnings = [] }) => (
          <Stack>
            <Title order={2} size="h5">
              {title}
            </Title>
            <Group gap="sm">
              <Verdict
                allowed={data.conditional === true ? undefined : data.allowed}
                {...(data.conditional === true && { label: texts.conditional })}
              />
              <Text fw={600}>
                {test.action} {test.resource.name}
              </Text>
              <CopyCurl test={test} />
            </Group>
            <Text size="sm">{data.reason}</Text>
            {data.matchedPolicy !== null && (
              <PolicyLink size="sm" id={data.matchedPolicy.id} rule={data.matchedRule ?? undefined}>
                {texts.matched(data.matchedPolicy.name)}
              </PolicyLink>
            )}
            {warnings.map((warning) => (
              <Alert key={warning} color="yellow">
                {warning}
              </Alert>
            ))}
            <Explanation explained={data} />
          </Stack>
        )}
      </QueryState>
    </Paper>
  );
}

function CopyCurl({ test }: { readonly test: AccessTest }) {
  const { copy, copied } = useClipboard();
  return (
    <Button size="xs" variant="default" onClick={() => copy(toCurl(location.origin, test))}>
      {copied ? commonTexts.copied : texts.copyCurl}
    </Button>
  );
}
