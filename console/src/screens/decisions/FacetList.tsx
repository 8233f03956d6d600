import { Accordion, ActionIcon, Alert, Button, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import type { Schemas } from '../../api/client.ts';
import { SideDialog } from '../../components/Dialog.tsx';
import { decisionsTexts as texts } from '../../texts/decisions.ts';
import { describeFilter, filterValueLabel } from './entry-names.ts';
import classes from './FacetList.module.css';
import { addFilter, type EntryFilter, presentFilters } from './filters.ts';
import { type EntryNames, FACETS } from './queries.ts';
import type { DecisionsSearch } from './search.ts';

/** Properties of the list of facets. */
interface FacetListProps {
  readonly facets: Schemas['admin.DecisionFacets'];
  readonly search: DecisionsSearch;
  /** Names of users and policies that are known so far. */
  readonly names: EntryNames;
  onChange(search: DecisionsSearch): void;
}

/** The facets beside the entries. Below 62 em there is no room: a button with the number of filters opens them. */
export function Facets(props: FacetListProps) {
  const isNarrow = useMediaQuery('(max-width: 62em)', undefined, { getInitialValueInEffect: false }) ?? false;
  const [isOpen, { open, close }] = useDisclosure(false);
  if (!isNarrow) return <FacetList {...props} />;
  return (
    <>
      <Button variant="default" onClick={open}>
        {texts.openFacets(presentFilters(props.search).length)}
      </Button>
      <SideDialog opened={isOpen} onClose={close} position="left" title={texts.facets}>
        <FacetList {...props} />
      </SideDialog>
    </>
  );
}

/** The classes of the parts of a facet. */
const CLASSES = Object.fromEntries(['label', 'content', 'control', 'chevron'].map((part) => [part, classes[part] ?? '']));

/** Facets that are open at first. */
const OPENED = ['allowed', 'kind', 'resource', 'action', 'role'];

/** The most frequent values of each member, with their numbers. A click on a value shows only its entries, the button beside it excludes them. */
function FacetList({ facets, search, names, onChange }: FacetListProps) {
  const { facets: byName, partial, total } = facets;
  const shown = FACETS.filter((name) => search[name] === undefined && (byName[name]?.length ?? 0) > 0);
  return (
    <Stack gap="xs">
      {partial === true && <Alert color="yellow">{texts.partial}</Alert>}
      <Accordion multiple variant="filled" chevronPosition="left" defaultValue={OPENED} classNames={CLASSES}>
        {shown.map((name) => (
          <Accordion.Item key={name} value={name}>
            <Accordion.Control>{texts.filters[name]}</Accordion.Control>
            <Accordion.Panel>
              {byName[name]?.map(({ value, count }) => (
                <FacetValue
                  key={String(value)}
                  filter={value === null ? undefined : { name, value: String(value), isExcluded: false }}
                  names={names}
                  count={count}
                  share={count / Math.max(1, total)}
                  onAdd={(filter) => onChange(addFilter(search, filter))}
                />
              ))}
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </Stack>
  );
}

interface FacetValueProps {
  /** Undefined for entries without a value, which no filter selects. */
  readonly filter: EntryFilter | undefined;
  readonly names: EntryNames;
  readonly count: number;
  /** Part of all entries, 0 to 1. */
  readonly share: number;
  onAdd(filter: EntryFilter): void;
}

function FacetValue({ filter, names, count, share, onAdd }: FacetValueProps) {
  const content = (
    <>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="sm" truncate {...(filter === undefined && { c: 'dimmed' })}>
          {filter === undefined ? texts.noValue : filterValueLabel(filter, names)}
        </Text>
        <Text size="xs" c="dimmed">
          {count.toLocaleString()}
        </Text>
      </Group>
      <div className={classes['bar']} style={{ width: `${Math.max(1, share * 100)}%` }} />
    </>
  );
  if (filter === undefined) {
    return (
      <div className={classes['row']}>
        <div className={classes['value']}>{content}</div>
      </div>
    );
  }
  const excluding = { ...filter, isExcluded: true };
  return (
    <div className={classes['row']}>
      <UnstyledButton className={classes['value']} onClick={() => onAdd(filter)} title={describeFilter(filter, names)}>
        {content}
      </UnstyledButton>
      {filter.name !== 'allowed' && (
        <ActionIcon
          className={classes['exclude'] ?? ''}
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={describeFilter(excluding, names)}
          title={describeFilter(excluding, names)}
          onClick={() => onAdd(excluding)}
        >
          −
        </ActionIcon>
      )}
    </div>
  );
}
