import { List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Draft } from '../../api/draft.ts';
import { accessChangeTexts as texts } from '../../texts/access-change.ts';
import { isolateNames } from '../../texts/sentence.ts';
import { ResidualWords } from '../decision/ResidualCondition.tsx';
import { QueryState } from '../QueryState.tsx';
import { AUDIT_LOG, type PermissionChange, type PermissionChanges } from './permission-changes.ts';
import { permissionChangesQuery, type Subject } from './queries.ts';

/** A draft, and the part of the permissions that is compared without and with it. */
export interface ComparedDraft {
  readonly draft: Draft;
  /** The resources that the changed rules name; undefined for all. */
  readonly resources: readonly string[] | undefined;
}

/** Properties of the changes for one user or role. */
interface AccessChangesProps extends ComparedDraft {
  readonly subject: Subject;
}

/** The permissions of a user or role that a draft changes: what it denies, what it allows again, and what depends on other conditions. */
export function AccessChanges({ subject, draft, resources }: AccessChangesProps) {
  const compared = resources?.filter((name) => name !== AUDIT_LOG);
  const changes = useQuery({ ...permissionChangesQuery(subject, draft, compared), enabled: compared?.length !== 0 });
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {texts.subject[subject.kind](subject.name)}
      </Text>
      {compared?.length !== 0 && (
        <QueryState query={changes} lines={2}>
          {(found) => <Found changes={found} />}
        </QueryState>
      )}
      {resources?.includes(AUDIT_LOG) && <Text size="sm">{texts.auditLog}</Text>}
    </Stack>
  );
}

function Found({ changes: { denied, allowed, conditional } }: { readonly changes: PermissionChanges }) {
  if (denied.length + allowed.length + conditional.length === 0) return <Text size="sm">{texts.nothing}</Text>;
  return (
    <>
      <ChangeList title={texts.denied(denied.length)} changes={denied} />
      <ChangeList title={texts.allowed(allowed.length)} changes={allowed} />
      <ChangeList title={texts.conditional(conditional.length)} changes={conditional} />
    </>
  );
}

function ChangeList({ title, changes }: { readonly title: string; readonly changes: readonly PermissionChange[] }) {
  if (changes.length === 0) return null;
  return (
    <div>
      <Text size="sm">{title}</Text>
      <List size="sm" style={{ overflowWrap: 'anywhere' }}>
        {changes.map(({ before, after }) => (
          <List.Item key={`${before.resource} ${before.action}`}>
            <Text span size="sm" fw={600}>
              {before.action} {before.resource}
            </Text>
            <Text size="xs" c="dimmed">
              {texts.before}: <Reason permission={before} />
            </Text>
            <Text size="xs" c="dimmed">
              {texts.after}: <Reason permission={after} />
            </Text>
          </List.Item>
        ))}
      </List>
    </div>
  );
}

/** The reason of a decision. For a decision that depends on conditions, these are its conditions and the first rule that may allow. */
function Reason({ permission: { reason, when, residual, rule, policy } }: { readonly permission: PermissionChange['before'] }) {
  if (when === undefined) return isolateNames(reason);
  return (
    <>
      {texts.when} <ResidualWords when={when} residual={residual} /> {texts.rule(rule?.description, policy?.name)}
    </>
  );
}
