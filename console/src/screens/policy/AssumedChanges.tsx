import { Stack, Text } from '@mantine/core';
import type { Draft } from '../../api/draft.ts';
import { AccessChanges } from '../../components/access-change/AccessChanges.tsx';
import { resourcesOf } from '../../components/access-change/permission-changes.ts';
import { nameOf } from '../../components/names-by-id.ts';
import { useRecordNames } from '../../components/record-names.ts';
import { accessChangeTexts as texts } from '../../texts/access-change.ts';
import { type Assignee, type DraftJson, rulesOf } from './policy-draft.ts';

/** Properties of the changes. */
export interface AssumedChangesProps {
  readonly assignee: Assignee;
  /** The new policy with the assumed assignment. */
  readonly tried: Draft;
  readonly draft: DraftJson;
}

/** The permissions that a new policy denies and allows for the role or user that it is assumed to be assigned to. */
export function AssumedChanges({ assignee: { role, userId = '' }, tried, draft }: AssumedChangesProps) {
  const names = useRecordNames(role === undefined ? [{ resource: 'User', id: userId }] : []);
  const subject =
    role === undefined
      ? { kind: 'user' as const, id: userId, name: nameOf(userId, names) ?? userId }
      : { kind: 'role' as const, id: role, name: role };
  return (
    <Stack gap="xs">
      <Text fw={600}>{texts.title}</Text>
      <AccessChanges subject={subject} draft={tried} resources={resourcesOf(rulesOf(draft) ?? [])} />
    </Stack>
  );
}
