import { Badge, Group, Text } from '@mantine/core';
import type { Schemas } from '../../api/client.ts';
import { OF_RECORDS } from '../../api/record-actions.ts';
import { Panel } from '../../components/Panel.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { useCaller } from '../../shell/useSession.ts';
import { dataTexts } from '../../texts/data.ts';
import { isolateNames } from '../../texts/sentence.ts';

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
}

/** The actions that the caller may perform on a record, and the reasons of denials. Admins can ask the simulator why. */
export function OwnPermissions({ resource, id, permissions }: OwnPermissionsProps) {
  const { id: user, role } = useCaller();
  if (permissions.length === 0) return null;
  const others = permissions.filter(({ effect }) => effect !== 'allow');
  return (
    <Panel title={texts.title}>
      <Group gap="xs">
        {permissions.map(({ action, effect }) => (
          <Badge key={action} color={MARKS[effect].color} leftSection={<span aria-hidden="true">{MARKS[effect].mark}</span>}>
            {action} {texts[effect]}
          </Badge>
        ))}
      </Group>
      {others.map(({ action, reason }) => (
        <Text key={action} size="sm" style={{ overflowWrap: 'anywhere' }}>
          <strong>{action}</strong>: {isolateNames(reason)}{' '}
          {role === 'admin' && (
            <TextLink to="/simulator" search={{ user, resource, action, ...(OF_RECORDS.has(action) && { id }) }} size="sm">
              {texts.why(action)}
            </TextLink>
          )}
        </Text>
      ))}
    </Panel>
  );
}
