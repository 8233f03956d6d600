import { Alert, Badge, Grid, Group, Paper, SegmentedControl, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { systemQuery } from '../../api/queries.ts';
import { Page } from '../../components/Page.tsx';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { overviewTexts as texts } from '../../texts/overview.ts';
import { DecisionSeries } from './DecisionSeries.tsx';
import { ExpiringAssignments } from './ExpiringAssignments.tsx';
import { NeverMatched } from './NeverMatched.tsx';
import { analyticsQuery, findingsQuery, TIMEFRAMES, type Timeframe } from './queries.ts';
import { RecentDecisions } from './RecentDecisions.tsx';
import { overviewRoute } from './route.ts';
import { TopDenied } from './TopDenied.tsx';

type Analytics = Schemas['admin.Analytics'];

/** A page of findings. */
interface Findings {
  readonly count: number;
  readonly nextCursor?: string;
}

/** The number of active policies if only the policy of admins, which the set-up creates, is active. */
const ONLY_ADMINS = 1;

/** The first screen of an admin: what was decided, what needs attention, and the health of the service. */
export function OverviewScreen() {
  const { timeframe = '7d' } = overviewRoute.useSearch();
  const navigate = useNavigate({ from: '/' });
  const analytics = useQuery(analyticsQuery(timeframe));
  return (
    <Page
      title={texts.title}
      actions={
        <SegmentedControl
          aria-label={texts.timeframe}
          value={timeframe}
          data={TIMEFRAMES.map((value) => ({ value, label: texts.timeframes[value] }))}
          onChange={(value) => void navigate({ search: { timeframe: value as Timeframe }, replace: true })}
        />
      }
    >
      <QueryState query={analytics} lines={12}>
        {(data) => (
          <>
            {data.activePolicies <= ONLY_ADMINS && <Unfinished />}
            <Tiles analytics={data} />
            {data.topDenied?.partial === true && <Alert color="yellow">{texts.partial}</Alert>}
            <Section title={texts.series.title}>
              <DecisionSeries series={data.series} />
            </Section>
            <Grid>
              <Half title={texts.topDenied.title}>
                <TopDenied denied={data.topDenied?.denied ?? []} from={data.from} />
              </Half>
              <Half title={texts.recent.title}>
                <RecentDecisions decisions={data.recentActivity} />
              </Half>
              <Half title={texts.expiring.title}>
                <ExpiringAssignments />
              </Half>
              <Half title={texts.neverMatched.title}>
                <NeverMatched neverMatched={data.neverMatched} />
              </Half>
            </Grid>
          </>
        )}
      </QueryState>
    </Page>
  );
}

function Unfinished() {
  return (
    <Alert color="blue" title={texts.unfinished.title}>
      <TextLink to="/first-steps">{texts.unfinished.action}</TextLink>
    </Alert>
  );
}

function Tiles({ analytics }: { readonly analytics: Analytics }) {
  const findings = useQuery(findingsQuery);
  const { accessGrants, accessDenials, activePolicies, totalPolicies, from } = analytics;
  const decided = { kind: 'access', from } as const;
  return (
    <>
      {findings.error !== null && <ProblemAlert error={findings.error} onRetry={findings.refetch} />}
      <SimpleGrid cols={{ base: 2, md: 5 }}>
        <Tile
          name={
            <TextLink size="sm" to="/decisions" search={{ ...decided, allowed: true }}>
              {texts.tiles.grants}
            </TextLink>
          }
          value={accessGrants.toLocaleString()}
        />
        <Tile
          name={
            <TextLink size="sm" to="/decisions" search={{ ...decided, allowed: false }}>
              {texts.tiles.denials}
            </TextLink>
          }
          value={accessDenials.toLocaleString()}
        />
        <Tile
          name={
            <TextLink size="sm" to="/policies" search={{ isActive: true }}>
              {texts.tiles.policies}
            </TextLink>
          }
          value={activePolicies.toLocaleString()}
          note={texts.ofPolicies(totalPolicies)}
        />
        <Tile
          name={
            <TextLink size="sm" to="/findings">
              {texts.tiles.findings}
            </TextLink>
          }
          value={countOf(findings)}
        />
        <Health />
      </SimpleGrid>
    </>
  );
}

/** Returns the number of findings: `…` before the answer, and `—` without one. */
function countOf({ data, error }: { readonly data: Findings | undefined; readonly error: unknown }): string {
  if (error !== null) return '—';
  return data === undefined ? '…' : `${data.count}${data.nextCursor === undefined ? '' : '+'}`;
}

function Tile({ name, value, note }: { readonly name: ReactNode; readonly value: ReactNode; readonly note?: string }) {
  return (
    <Paper withBorder p="sm">
      {name}
      <Group gap={6} align="baseline">
        <Text fz={26} fw={650} component="div">
          {value}
        </Text>
        {note !== undefined && (
          <Text size="sm" c="dimmed">
            {note}
          </Text>
        )}
      </Group>
    </Paper>
  );
}

function Health() {
  const { data, error } = useQuery({ ...systemQuery, refetchInterval: 15_000 });
  return (
    <Tile
      name={
        <TextLink size="sm" to="/system">
          {texts.health.title}
        </TextLink>
      }
      // The last answer says nothing about a service that does not answer now.
      value={error === null ? data && <Checks checks={data.checks} /> : <HealthBadge isReady={false} text={texts.health.unanswered} />}
    />
  );
}

function Checks({ checks }: Pick<Schemas['admin.SystemStatus'], 'checks'>) {
  const failing = checks.filter(({ ok }) => !ok).map(({ name }) => name);
  const isReady = failing.length === 0;
  return <HealthBadge isReady={isReady} text={isReady ? texts.health.ok : failing.join(', ')} />;
}

function HealthBadge({ isReady, text }: { readonly isReady: boolean; readonly text: string }) {
  return (
    <Badge size="lg" color={isReady ? 'green' : 'red'} leftSection={<span aria-hidden="true">{isReady ? '✓' : '✕'}</span>}>
      {text}
    </Badge>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Paper withBorder p="md" h="100%">
      <Stack gap="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        {children}
      </Stack>
    </Paper>
  );
}

function Half(props: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Grid.Col span={{ base: 12, lg: 6 }}>
      <Section {...props} />
    </Grid.Col>
  );
}
