import { Accordion, Alert, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { Schemas } from '../../api/client.ts';
import { commonTexts } from '../../texts/common.ts';
import { decisionsTexts as texts } from '../../texts/decisions.ts';
import classes from './FacetList.module.css';
import { type EntryNames, FACETS } from './queries.ts';
import { type DecisionsSearch, withFilter } from './search.ts';

/** Properties of the list of facets. */
interface FacetListProps {
  readonly facets: Schemas['admin.DecisionFacets'];
  readonly search: DecisionsSearch;
  /** Names of users and policies that are known so far. */
  readonly names: EntryNames;
  onChange(search: DecisionsSearch): void;
}

/** The most frequent values of each member, with their numbers. A click adds a filter. Closed below 62 em, where it stands above the entries. */
export function FacetList({ facets, search, names, onChange }: FacetListProps) {
  const isNarrow = useMediaQuery('(max-width: 62em)', undefined, { getInitialValueInEffect: false }) ?? false;
  const { facets: byName, partial } = facets;
  const shown = FACETS.filter((name) => search[name] === undefined && (byName[name]?.length ?? 0) > 0);
  return (
    <Stack gap="xs">
      {partial === true && <Alert color="yellow">{texts.partial}</Alert>}
      <Accordion
        key={`${isNarrow}`}
        multiple
        variant="filled"
        chevronPosition="left"
        defaultValue={isNarrow ? [] : ['allowed', 'kind', 'resource', 'action', 'role']}
        classNames={{ label: classes['label'] ?? '', content: classes['content'] ?? '', control: classes['control'] ?? '' }}
      >
        {shown.map((name) => (
          <Accordion.Item key={name} value={name}>
            <Accordion.Control>{texts.filters[name]}</Accordion.Control>
            <Accordion.Panel>
              {byName[name]?.map(({ value, count }) => (
                <FacetValue
                  key={String(value)}
                  name={texts.filters[name]}
                  value={value === null ? undefined : labelOf(name, value, names)}
                  count={count}
                  share={count / Math.max(1, facets.total)}
                  onAdd={() => onChange(withFilter(search, name, String(value)))}
                />
              ))}
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </Stack>
  );
}

function labelOf(name: (typeof FACETS)[number], value: string | boolean, { users, policies }: EntryNames): string {
  const text = String(value);
  if (name === 'allowed') return commonTexts[value === true ? 'allowed' : 'denied'];
  if (name === 'userId') return users[text] ?? text;
  return name === 'policyId' ? (policies[text] ?? text) : text;
}

interface FacetValueProps {
  readonly name: string;
  /** Undefined for entries without a value, which no filter selects. */
  readonly value: string | undefined;
  readonly count: number;
  /** Part of all entries, 0 to 1. */
  readonly share: number;
  onAdd(): void;
}

function FacetValue({ name, value, count, share, onAdd }: FacetValueProps) {
  return (
    <UnstyledButton
      className={classes['value']}
      disabled={value === undefined}
      onClick={onAdd}
      {...(value !== undefined && { title: texts.filterBy(name, value) })}
    >
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="sm" truncate {...(value === undefined && { c: 'dimmed' })}>
          {value ?? texts.noValue}
        </Text>
        <Text size="xs" c="dimmed">
          {count.toLocaleString()}
        </Text>
      </Group>
      <div className={classes['bar']} style={{ width: `${Math.max(1, share * 100)}%` }} />
    </UnstyledButton>
  );
}
