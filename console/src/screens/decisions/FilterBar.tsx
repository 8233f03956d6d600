import { Button, Group, NativeSelect, Switch } from '@mantine/core';
import { Tag } from '../../components/Tag.tsx';
import { decisionsTexts as texts } from '../../texts/decisions.ts';
import { sentence } from '../../texts/sentence.ts';
import { EntrySearch } from './EntrySearch.tsx';
import { filterValueLabel } from './entry-names.ts';
import { FilterMenu } from './FilterMenu.tsx';
import { addFilter, hiddenRoutines, presentFilters, removeFilter, showRoutine, withoutFilters } from './filters.ts';
import type { EntryNames } from './queries.ts';
import { RangeSelect } from './RangeSelect.tsx';
import { type DecisionsSearch, ORDERS, type Order, ROUTINES, type Routine } from './search.ts';
import { rememberRoutines } from './shown-routines.ts';

/** Properties of the bar of filters. */
interface FilterBarProps {
  readonly search: DecisionsSearch;
  readonly isLive: boolean;
  /** Names of users, policies and rules that are known so far. */
  readonly names: EntryNames;
  onChange(search: DecisionsSearch): void;
  onLive(isLive: boolean): void;
}

/** The search, the time, the order, the switch for new entries, the filters that are set, and the routines that are hidden. */
export function FilterBar({ search, isLive, names, onChange, onLive }: FilterBarProps) {
  const filters = presentFilters(search);
  return (
    <Group gap="sm">
      <EntrySearch onFind={(found) => onChange(found.entry === undefined ? found : { ...search, ...found })} />
      {!isLive && <RangeSelect search={search} onChange={onChange} />}
      {!isLive && <OrderSelect search={search} onChange={onChange} />}
      <FilterMenu search={search} onAdd={(filter) => onChange(addFilter(search, filter))} />
      <Switch label={texts.live.start} checked={isLive} onChange={({ currentTarget }) => onLive(currentTarget.checked)} />
      {filters.map((filter) => {
        const [name, value] = [texts.filters[filter.name], filterValueLabel(filter, names)];
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
      <RoutineTags search={search} onChange={onChange} />
    </Group>
  );
}

/** The routines that are hidden, each with the button that shows its entries, and the buttons that hide the others again. */
function RoutineTags({ search, onChange }: Pick<FilterBarProps, 'search' | 'onChange'>) {
  const hidden = hiddenRoutines(search);
  const show = (name: Routine, isShown: boolean): void => {
    const next = showRoutine(search, name, isShown);
    rememberRoutines(next);
    onChange(next);
  };
  return ROUTINES.map((name) => {
    const { label, show: showLabel, hide } = texts.routines[name];
    if (hidden.includes(name)) return <Tag key={name} label={label} removeLabel={showLabel} onRemove={() => show(name, true)} />;
    // Entries of one request are shown with all routines.
    if (search[name] !== true) return null;
    return (
      <Button key={name} size="compact-sm" variant="subtle" onClick={() => show(name, false)}>
        {hide}
      </Button>
    );
  });
}

/** The order of the entries. */
function OrderSelect({ search, onChange }: Pick<FilterBarProps, 'search' | 'onChange'>) {
  const { order = 'newest', ...others } = search;
  const choose = (next: Order): void => onChange(next === 'newest' ? others : { ...others, order: next });
  return (
    <NativeSelect
      aria-label={texts.order}
      w={140}
      value={order}
      data={ORDERS.map((value) => ({ value, label: texts.orders[value] }))}
      onChange={({ currentTarget: { value } }) => choose(value as Order)}
    />
  );
}
