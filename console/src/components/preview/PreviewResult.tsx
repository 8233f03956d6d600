import { Alert, Badge, Button, Card, Group, Paper, Progress, SimpleGrid, Stack, Tabs, Text } from '@mantine/core';
import { useState } from 'react';
import type { Draft } from '../../api/draft.ts';
import { previewTexts as texts } from '../../texts/preview.ts';
import { isolateNames, sentence } from '../../texts/sentence.ts';
import { Dialog } from '../Dialog.tsx';
import { type Residual, ResidualWords } from '../decision/ResidualCondition.tsx';
import { Time } from '../Time.tsx';
import { Verdict } from '../Verdict.tsx';
import { BothTraces } from './BothTraces.tsx';
import { CHANGES, type PreviewSample, type PreviewTotals } from './preview-totals.ts';

const COLORS = { allowToDeny: 'red', denyToAllow: 'orange', changed: 'yellow', unknown: 'gray', same: 'green' } as const;

type Effect = NonNullable<PreviewSample['live']>['effect'];

/** Properties of a result. */
interface PreviewResultProps {
  readonly totals: PreviewTotals;
  readonly draft: Draft;
  readonly fill: boolean;
}

/** The numbers of decisions that stay the same, change or are unknown, and groups of those that do not stay the same. */
export function PreviewResult({ totals, draft, fill }: PreviewResultProps) {
  // Until a tab is chosen, the first one with decisions is open. The figures grow while the replay runs.
  const [chosen, setTab] = useState<string | null>(null);
  const tab = chosen ?? CHANGES.find((change) => totals[change] > 0) ?? CHANGES[0];
  const [compared, setCompared] = useState<PreviewSample>();
  return (
    <Stack>
      <Text size="sm" role="status">
        {texts.running(totals.examined)}
      </Text>
      <Shares totals={totals} />
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
        <Tabs.List mb="sm">
          {CHANGES.map((change) => (
            <Tabs.Tab key={change} value={change} rightSection={<Badge color={COLORS[change]}>{totals[change].toLocaleString()}</Badge>}>
              {texts.classes[change]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {CHANGES.map((change) => (
          <Tabs.Panel key={change} value={change}>
            <Stack gap="sm">
              <Text size="sm">{totals[change] === 0 ? texts.none : texts.explain[change]}</Text>
              {totals.samples
                .filter((sample) => sample.change === change)
                .map((sample) => (
                  <SampleCard key={sample.entry.id} sample={sample} onCompare={() => setCompared(sample)} />
                ))}
            </Stack>
          </Tabs.Panel>
        ))}
      </Tabs>
      <Dialog opened={compared !== undefined} onClose={() => setCompared(undefined)} size="xl" title={compared && titleOf(compared)}>
        {compared && <BothTraces entryId={compared.entry.id} draft={draft} fill={fill} />}
      </Dialog>
    </Stack>
  );
}

function Shares({ totals }: { readonly totals: PreviewTotals }) {
  const all = Math.max(1, totals.examined);
  const classes = ['same', ...CHANGES] as const;
  return (
    <Paper withBorder p="md">
      <Progress.Root size={18} mb="sm">
        {classes.map((name) => (
          <Progress.Section
            key={name}
            value={(100 * totals[name]) / all}
            color={name === 'unknown' ? 'gray.6' : COLORS[name]}
            aria-label={texts.classes[name]}
          />
        ))}
      </Progress.Root>
      <SimpleGrid cols={{ base: 2, sm: 5 }}>
        {classes.map((name) => (
          <div key={name}>
            <Text fz={22} fw={650}>
              {totals[name].toLocaleString()}
            </Text>
            <Text size="sm" c="dimmed">
              {texts.classes[name]}
            </Text>
          </div>
        ))}
      </SimpleGrid>
    </Paper>
  );
}

function SampleCard({ sample, onCompare }: { readonly sample: PreviewSample; onCompare(): void }) {
  const { count, recorded, live, draft, missing = [], filled = [], entry } = sample;
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between" mb="xs">
        <Group gap="xs">
          <Badge color="gray">{texts.count(count)}</Badge>
          <Text fw={600}>{titleOf(sample)}</Text>
          <Text size="sm" c="dimmed">
            <Time at={entry.at} />
          </Text>
        </Group>
        <Button size="xs" variant="default" onClick={onCompare}>
          {texts.compare}
        </Button>
      </Group>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <Side name={texts.recorded} allowed={recorded.allowed} reason={recorded.reason} />
        {live && <Side name={texts.live} {...toVerdict(live.effect)} reason={live.reason} residual={live} />}
        {draft && <Side name={texts.draftSide} {...toVerdict(draft.effect)} reason={draft.reason} residual={draft} />}
      </SimpleGrid>
      {missing.length > 0 && (
        <Alert color="gray" mt="xs">
          {texts.missing}: {missing.join(', ')}
        </Alert>
      )}
      {filled.length > 0 && (
        <Text size="sm" mt="xs">
          {texts.filled}: {filled.join(', ')}
        </Text>
      )}
    </Card>
  );
}

interface SideProps {
  readonly name: string;
  readonly allowed: boolean | undefined;
  /** The word instead of that of the verdict. */
  readonly label?: string;
  readonly reason?: string | undefined;
  readonly residual?: Residual;
}

function Side({ name, allowed, label, reason, residual }: SideProps) {
  return (
    <div>
      <Group gap="xs">
        <Text size="sm" c="dimmed">
          {name}
        </Text>
        <Verdict allowed={allowed} {...(label !== undefined && { label })} />
      </Group>
      {reason !== undefined && <Text size="sm">{isolateNames(reason)}</Text>}
      {residual?.when !== undefined && (
        <Text size="sm">
          {texts.allowedIf} <ResidualWords {...residual} />
        </Text>
      )}
    </div>
  );
}

function titleOf({ role, action, resource }: PreviewSample): string {
  return sentence`${role} · ${action} ${resource}`;
}

/** Returns the verdict of an effect. A decision that depends on the record is neither allowed, denied nor unknown. */
function toVerdict(effect: Effect): Pick<SideProps, 'allowed' | 'label'> {
  if (effect === 'conditional') return { allowed: undefined, label: texts.conditional };
  return { allowed: effect === 'unknown' ? undefined : effect === 'allow' };
}
