import { Badge, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { PolicySummary } from '../../api/policies.ts';
import type { Column } from '../../components/DataTable.tsx';
import { Time } from '../../components/Time.tsx';
import { WarningBadge } from '../../components/WarningBadge.tsx';
import { policiesTexts as texts } from '../../texts/policies.ts';
import { isolate } from '../../texts/sentence.ts';
import classes from './policies.module.css';

/** The columns of the list of policies, without the selection. */
export const policyColumns: readonly Column<PolicySummary>[] = [
  { key: 'name', title: texts.columns.name, sort: 'name', width: '26%', render: (policy) => <Name policy={policy} /> },
  {
    key: 'type',
    title: texts.columns.type,
    width: 120,
    render: ({ type }) => <span className={classes['type'] ?? ''}>{texts.types[type]}</span>,
  },
  { key: 'rules', title: texts.columns.rules, render: ({ ruleCount }) => ruleCount },
  {
    key: 'resources',
    title: texts.columns.resources,
    render: ({ resources }) =>
      resources.length > 4 ? `${resources.slice(0, 4).join(', ')} +${resources.length - 4}` : resources.join(', '),
  },
  { key: 'assigned', title: texts.columns.assigned, width: 120, render: ({ assignments }) => <Assigned {...assignments} /> },
  { key: 'priority', title: texts.columns.priority, sort: 'priority', render: ({ priority }) => priority },
  { key: 'changed', title: texts.columns.changed, sort: 'updatedAt', render: (policy) => <LastChange {...policy} /> },
  { key: 'findings', title: texts.columns.findings, width: 120, render: (policy) => <FindingsBadge policy={policy} /> },
];

function Name({ policy: { id, name, description, isActive, managedBy, file = '', tags } }: { readonly policy: PolicySummary }) {
  return (
    <Stack gap={2}>
      <Group gap={6}>
        <Link to="/policies/$id" params={{ id }} className={classes['name'] ?? ''}>
          {name}
        </Link>
        {!isActive && <Badge color="gray">{texts.filters.inactive}</Badge>}
        {managedBy !== undefined && (
          <Badge color="gray" title={texts.managedBy(file)}>
            {texts.managed}
          </Badge>
        )}
        {tags.map((tag) => (
          <Badge key={tag} variant="outline" color="gray" size="sm">
            {tag}
          </Badge>
        ))}
      </Group>
      {description !== undefined && (
        <Text size="xs" c="dimmed" lineClamp={1}>
          {description}
        </Text>
      )}
    </Stack>
  );
}

function Assigned({ roles, users }: PolicySummary['assignments']) {
  if (roles.length === 0 && users === 0)
    return (
      <Text span size="sm" c="dimmed">
        {texts.unassigned}
      </Text>
    );
  return [...roles.map(isolate), ...(users > 0 ? [texts.users(users)] : [])].join(', ');
}

function LastChange({ lastChange, updatedAt }: PolicySummary) {
  const { at = updatedAt, by, reason } = lastChange ?? {};
  return (
    <Stack gap={0}>
      <Time at={at} />
      {by !== undefined && (
        <Text size="xs" c="dimmed">
          {isolate(by.name ?? by.id)}
        </Text>
      )}
      {reason !== undefined && (
        <Text size="xs" c="dimmed" lineClamp={2}>
          {reason}
        </Text>
      )}
    </Stack>
  );
}

function FindingsBadge({ policy: { id, findings } }: { readonly policy: PolicySummary }) {
  if (findings === undefined || findings === 0)
    return (
      <Text span c="dimmed" size="sm" {...(findings === undefined && { title: texts.notCounted })}>
        {findings === 0 ? '0' : '—'}
      </Text>
    );
  return (
    <Link to="/policies/$id" params={{ id }} search={{ tab: 'findings' }}>
      <WarningBadge>{texts.findings(findings)}</WarningBadge>
    </Link>
  );
}
