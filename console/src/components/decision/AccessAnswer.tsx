import { Alert, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import { isolateNames } from '../../texts/sentence.ts';
import { simulatorTexts as texts } from '../../texts/simulator.ts';
import { PolicyLink } from '../PolicyLink.tsx';
import { QueryState } from '../QueryState.tsx';
import { Verdict } from '../Verdict.tsx';
import { Explanation } from './Explanation.tsx';

/** A request that is decided, but not performed. */
export type AccessTest = Schemas['admin.AccessTest'];

/** Properties of the answer. */
interface AccessAnswerProps {
  readonly test: AccessTest;
  readonly title: string;
  /** Controls beside the title. */
  readonly actions?: ReactNode;
}

/** The decision on a request that is not performed. */
export function accessTestQuery(test: AccessTest) {
  return queryOptions({
    queryKey: ['access test', test],
    queryFn: ({ signal }) =>
      bodyOf(client.POST('/admin/api/policies/test-access', { body: test, params: { query: { names: true } }, signal })),
    // An answer is true at its moment only.
    staleTime: 0,
    gcTime: 0,
  });
}

/** The decision on a request that is not performed: the verdict, the deciding rule and the explanation. */
export function AccessAnswer({ test, title, actions }: AccessAnswerProps) {
  const tested = useQuery(accessTestQuery(test));
  return (
    <Paper withBorder p="md" w="100%">
      <QueryState query={tested} lines={10}>
        {({ data, warnings = [], names }) => (
          <Stack>
            <Group gap="sm" justify="space-between">
              <Title order={2} size="h5">
                {title}
              </Title>
              {actions}
            </Group>
            <Group gap="sm">
              <Verdict
                allowed={data.conditional === true ? undefined : data.allowed}
                {...(data.conditional === true && { label: texts.conditional })}
              />
              <Text fw={600}>
                {test.action} {test.resource.name}
              </Text>
            </Group>
            <Text size="sm">{isolateNames(data.reason)}</Text>
            {data.matchedPolicy !== null && (
              <PolicyLink size="sm" id={data.matchedPolicy.id} rule={data.matchedRule ?? undefined}>
                {texts.matched(data.matchedPolicy.name)}
              </PolicyLink>
            )}
            {warnings.map((warning) => (
              <Alert key={warning} color="yellow">
                {isolateNames(warning)}
              </Alert>
            ))}
            {data.conditional === true && test.anyRecord === true && <Text size="sm">{texts.chooseRecord}</Text>}
            <Explanation explained={data} users={names?.users} resource={test.resource.name} />
          </Stack>
        )}
      </QueryState>
    </Paper>
  );
}
