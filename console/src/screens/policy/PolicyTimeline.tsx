import { Badge, Button, Card, Collapse, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { PolicyHistoryItem } from '../../api/policies.ts';
import { GuardedButton } from '../../components/GuardedButton.tsx';
import { LazyPart } from '../../components/LazyPart.tsx';
import { type NamesById, nameOf } from '../../components/names-by-id.ts';
import { useRecordNames } from '../../components/record-names.ts';
import { withLocalTimes } from '../../components/sentence-times.ts';
import { TextLink } from '../../components/TextLink.tsx';
import { Time } from '../../components/Time.tsx';
import { policyTexts } from '../../texts/policy.ts';
import { isolate, isolateNames, sentence } from '../../texts/sentence.ts';
import { lastingDeletions } from './deleted-policies.ts';
import { rollbackDialog } from './policy-parts.ts';
import { type OnRestore, VersionDiff } from './VersionDiff.tsx';

const texts = policyTexts.history;

const COLORS = { created: 'green', updated: 'blue', deleted: 'red', restored: 'teal' } as const;

/** Properties of a timeline. */
interface PolicyTimelineProps {
  readonly items: readonly PolicyHistoryItem[];
  /** The revision of the current version, if the timeline is that of a stored policy. */
  readonly current?: number;
  /** The reason why no version can be rolled back to; undefined if one can. */
  readonly refusal?: string | undefined;
  /** The revision whose differences are shown first. */
  readonly compared?: number | undefined;
  /** Restores a rule of a version in the draft. */
  readonly onRestore?: OnRestore | undefined;
  /** True if the timeline is that of all policies. */
  readonly namesPolicies?: boolean;
}

/** Changes of policies and assignments: author, reason and sentence, with the differences and a rollback. */
export function PolicyTimeline({ items, ...options }: PolicyTimelineProps) {
  const names = useRecordNames(items.flatMap(({ userId }) => (userId === undefined ? [] : [{ resource: 'User', id: userId }])));
  const deletions = lastingDeletions(items);
  return (
    <Stack gap="sm" component="ol" p={0} m={0} style={{ listStyle: 'none' }} aria-label={texts.list}>
      {items.map((item) => (
        <li key={`${item.revision} ${item.policy.id} ${item.subject} ${item.userId ?? ''} ${item.role ?? ''}`}>
          <Change item={{ ...item, summary: sentenceOf(item, names) }} isRestorable={deletions.has(item)} {...options} />
        </li>
      ))}
    </Stack>
  );
}

/** Returns the sentence of a change for people, with the name of the user of an assignment instead of the id. */
function sentenceOf({ userId = '', summary }: PolicyHistoryItem, names: NamesById): string {
  const name = nameOf(userId, names);
  const text = isolateNames(withLocalTimes(summary));
  return name === undefined ? text : text.replaceAll(userId, () => isolate(name));
}

interface ChangeProps extends Omit<PolicyTimelineProps, 'items'> {
  readonly item: PolicyHistoryItem;
  /** True if the change deleted a policy that does not exist. */
  readonly isRestorable: boolean;
}

function Change({ item, isRestorable, current, refusal, compared, onRestore, namesPolicies = false }: ChangeProps) {
  const { change, subject, policy, revision } = item;
  const [isShown, setShown] = useState(subject === 'policy' && revision === compared);
  const [isRollingBack, setRollingBack] = useState(false);
  const isDeleted = change === 'deleted';
  const isCurrent = revision === current && subject === 'policy';
  const hasVersion = subject === 'policy' && !isDeleted && !isCurrent;
  // The current version of a policy is not known in the list of all changes.
  const mayRollBack = hasVersion && current !== undefined;
  return (
    <Card withBorder padding="sm" tabIndex={-1} data-row>
      <Group justify="space-between" align="flex-start">
        <ChangeSummary item={item} isCurrent={isCurrent} namesPolicies={namesPolicies} />
        <Group gap="xs">
          {mayRollBack && (
            <Button size="xs" variant="default" data-open aria-expanded={isShown} onClick={() => setShown(!isShown)}>
              {isShown ? texts.hide : texts.show}
            </Button>
          )}
          {mayRollBack && (
            <GuardedButton size="xs" variant="default" refusal={refusal} onClick={() => setRollingBack(true)}>
              {texts.rollback}
            </GuardedButton>
          )}
          {isRestorable && (
            <Button size="xs" variant="default" data-open onClick={() => setRollingBack(true)}>
              {texts.restore}
            </Button>
          )}
        </Group>
      </Group>
      {mayRollBack && (
        <Collapse expanded={isShown}>{isShown && <VersionDiff id={policy.id} from={revision} onRestore={onRestore} />}</Collapse>
      )}
      {isRollingBack && (
        <LazyPart
          part={rollbackDialog}
          props={{ item, version: isDeleted ? revision : (current ?? revision), onClose: () => setRollingBack(false) }}
          lines={0}
        />
      )}
    </Card>
  );
}

function ChangeSummary({
  item,
  isCurrent,
  namesPolicies,
}: {
  readonly item: PolicyHistoryItem;
  readonly isCurrent: boolean;
  readonly namesPolicies: boolean;
}) {
  const { change, subject, policy, revision, at, by, reason, rolledBackTo, summary } = item;
  return (
    <Stack gap={4} flex="1 1 300px" style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
      <Group gap="xs">
        <Badge color={COLORS[change]}>
          {texts.subjects[subject]} {texts.changes[change]}
        </Badge>
        {rolledBackTo !== undefined && <Badge variant="light">{texts.rolledBackTo(rolledBackTo)}</Badge>}
        {isCurrent && <Badge variant="outline">{texts.current}</Badge>}
        {namesPolicies && (
          <TextLink to="/policies/$id" params={{ id: policy.id }} search={{ tab: 'history' }}>
            {policy.name ?? policy.id}
          </TextLink>
        )}
        <Text size="sm" component="span">
          <Time at={at} />
          {by !== undefined && sentence` · ${by.name ?? by.id}`}
        </Text>
        <Text size="xs" c="dimmed">
          {policyTexts.revision(revision)}
        </Text>
      </Group>
      <Text size="sm">{summary}</Text>
      {reason !== undefined && (
        <Text size="sm" fs="italic">
          {reason}
        </Text>
      )}
    </Stack>
  );
}
