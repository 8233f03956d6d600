import { Code, List, Text } from '@mantine/core';
import type { Row } from '../../../api/records.ts';
import { TextLink } from '../../../components/TextLink.tsx';
import { useAuditRights } from '../../../shell/useAuditRights.ts';
import { useCaller } from '../../../shell/useSession.ts';
import { commonTexts } from '../../../texts/common.ts';
import { dataTexts } from '../../../texts/data.ts';
import { isolateNames } from '../../../texts/sentence.ts';
import type { BulkChange, RefusedRecord } from './bulk-change.ts';

/** Properties of the list. */
interface RefusedRecordsProps {
  readonly resource: string;
  readonly action: BulkChange['action'];
  readonly refused: readonly RefusedRecord[];
  nameOf(row: Row): string;
}

/** The rule action that a change is decided by. */
const DECIDED_BY = { update: 'update', delete: 'delete', restore: 'delete' } as const;

/** The records that a bulk action did not change, each with its reason and a link to its decision. */
export function RefusedRecords({ resource, action, refused, nameOf }: RefusedRecordsProps) {
  const { id: user } = useCaller();
  const { isAdmin, mayRead } = useAuditRights();
  return (
    <List size="sm" style={{ overflowWrap: 'anywhere' }}>
      {refused.map(({ row, problem, decisionId }) => (
        <List.Item key={row.id}>
          <strong>{nameOf(row)}</strong>: {isolateNames(problem.detail ?? problem.title)}{' '}
          {isAdmin && problem.code === 'ACCESS_DENIED' && (
            <TextLink to="/simulator" search={{ user, resource, action: DECIDED_BY[action], id: row.id }} size="sm">
              {dataTexts.bulk.why}
            </TextLink>
          )}{' '}
          {decisionId !== undefined && mayRead && (
            <TextLink to="/decisions/$id" params={{ id: decisionId }} size="sm">
              {commonTexts.showDecision}
            </TextLink>
          )}
          {decisionId !== undefined && !mayRead && (
            <Text span size="xs">
              {commonTexts.tellAdmin} <Code>{decisionId}</Code>
            </Text>
          )}
        </List.Item>
      ))}
    </List>
  );
}
