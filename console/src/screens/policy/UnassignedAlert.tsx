import { Alert, Button, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { assignmentsQuery } from '../../api/assignments.ts';
import { LazyPart } from '../../components/LazyPart.tsx';
import { policyTexts } from '../../texts/policy.ts';
import { assignDialog } from './policy-parts.ts';

const texts = policyTexts.assignments;

/** Says that a policy has no assignments, and assigns it. Shows nothing while they are loaded; the tab of assignments shows why they could not be. */
export function UnassignedAlert({ policyId }: { readonly policyId: string }) {
  const [isOpened, setOpened] = useState(false);
  const { data } = useInfiniteQuery(assignmentsQuery({ policyId }));
  // The open dialog stays until it has said that the policy was assigned.
  if (data?.pages[0]?.items.length !== 0 && !isOpened) return null;
  return (
    <Alert color="blue" title={texts.none.title} mb="sm">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{texts.none.detail}</Text>
        <Button size="xs" onClick={() => setOpened(true)}>
          {texts.add}
        </Button>
      </Stack>
      {isOpened && <LazyPart part={assignDialog} props={{ policyId, onClose: () => setOpened(false) }} lines={0} />}
    </Alert>
  );
}
