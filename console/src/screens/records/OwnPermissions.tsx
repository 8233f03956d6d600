import { Badge, Group, Text } from '@mantine/core';
import { Fragment } from 'react';
import type { Schemas } from '../../api/client.ts';
import { OF_RECORDS } from '../../api/record-actions.ts';
import { Panel } from '../../components/Panel.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { useCaller } from '../../shell/useSession.ts';
import { dataTexts } from '../../texts/data.ts';
import { isolateNames } from '../../texts/sentence.ts';
import { reasonsOf } from './permission-reasons.ts';

const texts = dataTexts.permissions;
const MARKS = {
  allow: { mark: '✓', color: 'green' },
  deny: { mark: '✕', color: 'red' },
  conditional: { mark: '?', color: 'yellow' },
} as const;

/** Properties of the permissions. */
interface OwnPermissionsProps {
  readonly resource: string;
  readonly id: string;
  readonly permissions: readonly Schemas['api.OwnPermission'][];
  /** The reason that an alert beside the permissions shows. */
  readonly shown?: string | undefined;
}

/** The actions that the caller may perform on a record, and each reason of denials once. Admins can ask the simulator why. */
export function OwnPermissions({ resource, id, permissions, shown }: OwnPermissionsProps) {
  const { id: user, role } = useCaller();
  if (permissions.length === 0) return null;
  const isAdmin = role === 'admin';
  const reasons = reasonsOf(permissions).filter(({ reason }) => isAdmin || reason !== shown);
  return (
    <Panel title={texts.title}>
      <Group gap="xs">
        {permissions.map(({ action, effect }) => (
          <Badge key={action} color={MARKS[effect].color} leftSection={<span aria-hidden="true">{MARKS[effect].mark}</span>}>
            {action} {texts[effect]}
          </Badge>
        ))}
      </Group>
      {reasons.map(({ reason, actions }) => (
        <Text key={reason} size="sm" style={{ overflowWrap: 'anywhere' }}>
          <strong>{actions.join(', ')}</strong>: {isolateNames(reason)}{' '}
          {isAdmin &&
            actions.map((action) => (
              <Fragment key={action}>
                <TextLink to="/simulator" search={{ user, resource, action, ...(OF_RECORDS.has(action) && { id }) }} size="sm">
                  {texts.why(action)}
                </TextLink>{' '}
              </Fragment>
            ))}
        </Text>
      ))}
    </Panel>
  );
}
