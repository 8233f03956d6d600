import { Group, NativeSelect, TextInput } from '@mantine/core';
import { useTypedText } from '../../components/useTypedText.ts';
import { decisionsTexts as texts } from '../../texts/decisions.ts';
import { chooseTimes, type EntryTimes, isOrdered, toFields, withFields } from './entry-times.ts';
import { type DecisionsSearch, RANGES, type Range } from './search.ts';

const CHOSEN = 'chosen';

/** Properties of the time. */
interface RangeSelectProps {
  readonly search: DecisionsSearch;
  onChange(search: DecisionsSearch): void;
}

/** The time of the entries: one that counts back from now, or two fields for its start and end. */
export function RangeSelect({ search, onChange }: RangeSelectProps) {
  const { from, to, range = '24h', ...filters } = search;
  const isChosen = from !== undefined || to !== undefined;
  const choose = (value: string): void =>
    onChange(value === CHOSEN ? chooseTimes(search, Date.now()) : { ...filters, range: value as Range });
  return (
    <Group gap="xs">
      <NativeSelect
        aria-label={texts.rangeLabel}
        w={150}
        value={isChosen ? CHOSEN : range}
        data={[...RANGES.map((value) => ({ value, label: texts.ranges[value] })), { value: CHOSEN, label: texts.chosenRange.label }]}
        onChange={({ currentTarget: { value } }) => choose(value)}
      />
      {isChosen && <TimeFields search={search} onChange={onChange} />}
    </Group>
  );
}

/** The start and the end. They take effect when a field is left or with Enter, because a time is typed part by part. */
function TimeFields({ search, onChange }: RangeSelectProps) {
  const shown = toFields(search);
  const fields = { from: useTypedText(shown.from), to: useTypedText(shown.to) };
  const typed = { from: fields.from.typed, to: fields.to.typed };
  const isValid = isOrdered(typed);
  const apply = (): void => {
    if (!isValid || (typed.from === shown.from && typed.to === shown.to)) return;
    fields.from.noteApplied(typed.from);
    fields.to.noteApplied(typed.to);
    onChange(withFields(search, typed));
  };
  const field = (name: keyof EntryTimes) => (
    <TextInput
      type="datetime-local"
      step={1}
      w={255}
      aria-label={texts.chosenRange[name]}
      leftSection={texts.chosenRange[name]}
      leftSectionWidth={48}
      leftSectionProps={{ style: { fontSize: 'var(--mantine-font-size-xs)' }, 'aria-hidden': true }}
      value={typed[name]}
      error={!isValid && name === 'to' && texts.chosenRange.mistake}
      onChange={({ currentTarget: { value } }) => fields[name].type(value)}
      onBlur={apply}
    />
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <Group gap="xs" align="flex-start">
        {field('from')}
        {field('to')}
        {/* Without a button, Enter would not send a form with two fields. */}
        <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
      </Group>
    </form>
  );
}
