import { ActionIcon, Code, Group, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { PolicyLink } from '../../components/PolicyLink.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { Time } from '../../components/Time.tsx';
import { useAuditRights } from '../../shell/useAuditRights.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { describeFilter, filterValueLabel } from './entry-names.ts';
import type { EntryFilter } from './filters.ts';
import type { Entry, EntryNames } from './queries.ts';
import { FILTER_NAMES, type FilterName } from './search.ts';

const texts = decisionsTexts.detail;

/** Properties of the members of an entry. */
interface EntryMembersProps {
  readonly entry: Entry;
  readonly names: EntryNames;
  /** The present name and email of the user, if they are known. */
  readonly caller: Caller | undefined;
  readonly onFilter: ((filter: EntryFilter) => void) | undefined;
}

type Caller = { readonly name?: string; readonly email: string };

/** The members of an audit entry. With `onFilter`, the list can be filtered by the value of each. */
export function EntryMembers({ entry, names, caller, onFilter }: EntryMembersProps) {
  const { filters } = decisionsTexts;
  const rows: readonly Member[] = [
    { label: texts.members.at, content: <Time at={entry.at} /> },
    ...FILTER_NAMES.filter((name) => name !== 'allowed' && entry[name] !== undefined).map((name) => ({
      label: filters[name],
      content: <MemberValue entry={entry} name={name} names={names} caller={caller} />,
      filter: { name, value: String(entry[name]), isExcluded: false },
    })),
    { label: texts.members.revision, content: String(entry.epoch) },
  ];
  return (
    <Table variant="vertical" layout="fixed" withTableBorder>
      <Table.Tbody>
        {rows.map(({ label, content, filter }) => (
          <Table.Tr key={label}>
            <Table.Th w={{ base: 110, sm: 150 }}>{label}</Table.Th>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              <Group justify="space-between" wrap="nowrap" gap="xs">
                <div>{content}</div>
                {filter !== undefined && onFilter !== undefined && <FilterButtons filter={filter} names={names} onFilter={onFilter} />}
              </Group>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

interface Member {
  readonly label: string;
  readonly content: ReactNode;
  /** The filter by the value of the member. */
  readonly filter?: EntryFilter;
}

interface MemberValueProps {
  readonly entry: Entry;
  readonly name: FilterName;
  readonly names: EntryNames;
  readonly caller: Caller | undefined;
}

function MemberValue({ entry, name, names, caller }: MemberValueProps) {
  const { isAdmin } = useAuditRights();
  const value = filterValueLabel({ name, value: String(entry[name]) }, names);
  if (name === 'outcome') return <Code>{value}</Code>;
  if (name === 'userId' && caller !== undefined) return <UserValue id={entry.userId ?? ''} caller={caller} />;
  if (isAdmin && name === 'recordId' && entry.kind === 'access')
    return (
      <TextLink to="/data/$resource/$id" params={{ resource: entry.resource, id: value }} size="sm">
        {value}
      </TextLink>
    );
  if (!isAdmin || (name !== 'policyId' && name !== 'ruleId')) return <>{value}</>;
  return (
    <PolicyLink id={entry.policyId ?? ''} size="sm" {...(name === 'ruleId' && { rule: entry.ruleId })}>
      {value}
    </PolicyLink>
  );
}

/** The name and the email of a user, and the id. */
function UserValue({ id, caller: { name, email } }: { readonly id: string; readonly caller: Caller }) {
  return (
    <>
      <TextLink to="/users/$id" params={{ id }} size="sm">
        {name ?? email}
      </TextLink>
      {name !== undefined && <Text size="sm">{email}</Text>}
      <Text size="xs" c="dimmed">
        {id}
      </Text>
    </>
  );
}

interface FilterButtonsProps {
  readonly filter: EntryFilter;
  readonly names: EntryNames;
  onFilter(filter: EntryFilter): void;
}

/** The buttons that show only the entries with a value, or all others. */
function FilterButtons({ filter, names, onFilter }: FilterButtonsProps) {
  return (
    <Group gap={4} wrap="nowrap">
      {[false, true].map((isExcluded) => (
        <ActionIcon
          key={`${isExcluded}`}
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={describeFilter({ ...filter, isExcluded }, names)}
          title={describeFilter({ ...filter, isExcluded }, names)}
          onClick={() => onFilter({ ...filter, isExcluded })}
        >
          {isExcluded ? '−' : '+'}
        </ActionIcon>
      ))}
    </Group>
  );
}
