import { Button, Group, NativeSelect, Switch } from '@mantine/core';
import { Tag } from '../../components/Tag.tsx';
import { decisionsTexts as texts } from '../../texts/decisions.ts';
import { sentence } from '../../texts/sentence.ts';
import { labelOf } from './entry-names.ts';
import { hidesAdminReads, presentFilters, removeFilter, showAdminReads, withoutFilters } from './filters.ts';
import type { EntryNames } from './queries.ts';
import { type DecisionsSearch, RANGES, type Range } from './search.ts';

/** Properties of the bar of filters. */
interface FilterBarProps {
  readonly search: DecisionsSearch;
  readonly isLive: boolean;
  /** Names of users, policies and rules that are known so far. */
  readonly names: EntryNames;
  onChange(search: DecisionsSearch): void;
  onLive(isLive: boolean): void;
}

/** The time, the filters that are set, and the switches for new entries and for reads of admins. */
export function FilterBar({ search, isLive, names, onChange, onLive }: FilterBarProps) {
  const filters = presentFilters(search);
  const hides = hidesAdminReads(search);
  return (
    <Group gap="sm">
      {!isLive && <RangeSelect search={search} onChange={onChange} />}
      <Switch label={texts.live.start} checked={isLive} onChange={({ currentTarget }) => onLive(currentTarget.checked)} />
      {/* Without it, another filter names the reads. */}
      {(hides || search.adminReads === true) && (
        <Switch
          label={texts.adminReads}
          checked={!hides}
          onChange={({ currentTarget }) => onChange(showAdminReads(search, currentTarget.checked))}
        />
      )}
      {filters.map((filter) => {
        const [name, value] = [texts.filters[filter.name], labelOf(filter, names)];
        return (
          <Tag
            key={JSON.stringify(filter)}
            label={sentence`${name}: ${filter.isExcluded ? texts.excluded(value) : value}`}
            removeLabel={texts.removeFilter(name, filter.isExcluded ? texts.excluded(value) : value)}
            onRemove={() => onChange(removeFilter(search, filter))}
          />
        );
      })}
      {filters.length > 1 && (
        <Button size="compact-sm" variant="subtle" onClick={() => onChange(withoutFilters(search))}>
          {texts.clear}
        </Button>
      )}
    </Group>
  );
}

const CHOSEN = 'chosen';

function RangeSelect({ search, onChange }: Pick<FilterBarProps, 'search' | 'onChange'>) {
  const { from, to, range = '24h', ...filters } = search;
  const isChosen = from !== undefined || to !== undefined;
  const chosen = texts.chosenRange(printMinute(from), printMinute(to));
  return (
    <NativeSelect
      aria-label={texts.rangeLabel}
      w={isChosen ? 330 : 170}
      maw="100%"
      value={isChosen ? CHOSEN : range}
      data={[...RANGES.map((value) => ({ value, label: texts.ranges[value] })), ...(isChosen ? [{ value: CHOSEN, label: chosen }] : [])]}
      onChange={({ currentTarget: { value } }) => value !== CHOSEN && onChange({ ...filters, range: value as Range })}
    />
  );
}

function printMinute(at: string | undefined): string {
  return at === undefined ? '…' : new Date(at).toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'short' });
}
