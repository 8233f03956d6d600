import { Badge, Button, Card, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Finding } from '../api/policies.ts';
import { policyTexts } from '../texts/policy.ts';
import { isolateNames } from '../texts/sentence.ts';
import classes from './FindingList.module.css';
import { withLocalTimes } from './sentence-times.ts';
import { TextLink } from './TextLink.tsx';
import { WarningBadge } from './WarningBadge.tsx';

const texts = policyTexts.findings;

/** Properties of a list of findings. */
interface FindingListProps {
  readonly findings: readonly Finding[];
  /** Opens a member of the policy on the same screen. Without it, findings link to their policies. */
  onOpen?(path: string): void;
}

/** Findings of the policy linter: what is probably wrong, what to do, and a link to the member. */
export function FindingList({ findings, onOpen }: FindingListProps) {
  return (
    <Stack gap="sm">
      {findings.map((finding) => (
        <FindingCard
          key={JSON.stringify([finding.code, finding.policy.id, finding.path, finding.role, finding.detail])}
          finding={finding}
          onOpen={onOpen}
        />
      ))}
    </Stack>
  );
}

interface FindingCardProps {
  readonly finding: Finding;
  readonly onOpen: ((path: string) => void) | undefined;
}

function FindingCard({ finding: { code, level, detail, todo, path, policy, rule, other }, onOpen }: FindingCardProps) {
  return (
    <Card withBorder padding="sm" tabIndex={-1} data-row>
      <Group justify="space-between" align="flex-start">
        <Stack gap={4} flex="1 1 300px" style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
          <Group gap="xs">
            {level === 'warning' ? <WarningBadge>{code}</WarningBadge> : <Badge variant="default">{code}</Badge>}
            {onOpen === undefined && (
              <TextLink to="/policies/$id" params={{ id: policy.id }}>
                {policy.name}
              </TextLink>
            )}
            {rule?.description !== undefined && (
              <Text size="sm" c="dimmed">
                {texts.of(rule.description)}
              </Text>
            )}
          </Group>
          <Text size="sm" className={classes['sentence'] ?? ''}>
            {isolateNames(withLocalTimes(detail))}
          </Text>
          <Text size="sm" fw={600} className={classes['sentence'] ?? ''}>
            {todo}
          </Text>
        </Stack>
        <Group gap="xs">
          {other !== undefined && other.policy.id !== policy.id && (
            <TextLink to="/policies/$id" params={{ id: other.policy.id }} size="sm">
              {texts.other}
            </TextLink>
          )}
          <OpenButton path={path ?? ''} policyId={policy.id} isAboutAssignments={path === undefined} onOpen={onOpen} />
        </Group>
      </Group>
    </Card>
  );
}

interface OpenButtonProps {
  readonly path: string;
  readonly policyId: string;
  readonly isAboutAssignments: boolean;
  readonly onOpen: ((path: string) => void) | undefined;
}

function OpenButton({ path, policyId, isAboutAssignments, onOpen }: OpenButtonProps) {
  if (onOpen !== undefined && !isAboutAssignments)
    return (
      <Button size="xs" variant="default" data-open onClick={() => onOpen(path)}>
        {texts.open}
      </Button>
    );
  const search = isAboutAssignments ? { tab: 'assignments' as const } : { tab: 'rules' as const, at: path };
  return (
    <Button
      size="xs"
      variant="default"
      data-open
      renderRoot={(props) => <Link to="/policies/$id" params={{ id: policyId }} search={search} {...props} />}
    >
      {isAboutAssignments ? texts.openAssignments : texts.open}
    </Button>
  );
}
