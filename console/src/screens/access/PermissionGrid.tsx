import { Anchor, Stack, Table, Text, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { SideDialog } from '../../components/Dialog.tsx';
import { readableReason } from '../../components/decision/draft-reasons.ts';
import { ResidualCondition } from '../../components/decision/ResidualCondition.tsx';
import { describeResidual } from '../../components/decision/residual-words.ts';
import { useTraceVocabulary } from '../../components/decision/trace-vocabulary.ts';
import { PolicyLink } from '../../components/PolicyLink.tsx';
import { accessTexts as texts } from '../../texts/access.ts';
import { sentence } from '../../texts/sentence.ts';
import classes from './PermissionGrid.module.css';
import type { Permission } from './queries.ts';

const MARKS = { allow: '✓', deny: '✕', conditional: '?' } as const;

/** Properties of a grid of permissions. */
interface PermissionGridProps {
  readonly label: string;
  /** Title of the column of the rows' names. */
  readonly heading: string;
  readonly actions: readonly string[];
  /** The rows: a name, and the permissions that are loaded so far. */
  readonly rows: readonly { readonly name: string; readonly permissions: readonly Permission[] }[];
  /** The address of the simulator with the question of a cell. */
  simulatorLink?(name: string, permission: Permission): string;
}

/** A heat map of permissions. A cell opens the reason and the rule. */
export function PermissionGrid({ label, heading, actions, rows, simulatorLink }: PermissionGridProps) {
  const [open, setOpen] = useState<{ readonly name: string; readonly permission: Permission }>();
  return (
    <>
      <div className={classes['scroll']}>
        <Table aria-label={label} layout="fixed" className={classes['grid'] ?? ''}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={150}>{heading}</Table.Th>
              {actions.map((action) => (
                <Table.Th key={action} ta="center">
                  {action}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ name, permissions }) => (
              <Table.Tr key={name}>
                <Table.Th scope="row" style={{ overflowWrap: 'anywhere' }}>
                  {name}
                </Table.Th>
                {actions.map((action) => {
                  const permission = permissions.find((each) => each.action === action);
                  return (
                    <Table.Td key={action} p={2} data-action={action}>
                      {permission && <Cell name={name} permission={permission} onOpen={() => setOpen({ name, permission })} />}
                    </Table.Td>
                  );
                })}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      <Text size="sm" c="dimmed">
        {texts.legend}
      </Text>
      <SideDialog
        opened={open !== undefined}
        onClose={() => setOpen(undefined)}
        title={open && sentence`${open.name} · ${open.permission.action}`}
      >
        {open && <PermissionDetail permission={open.permission} link={simulatorLink?.(open.name, open.permission)} />}
      </SideDialog>
    </>
  );
}

function Cell({
  name,
  permission: { action, effect, resource, when, residual },
  onOpen,
}: {
  readonly name: string;
  readonly permission: Permission;
  onOpen(): void;
}) {
  const vocabulary = useTraceVocabulary();
  const condition = residual === undefined ? when : describeResidual(residual, vocabulary);
  return (
    <UnstyledButton
      className={classes['cell']}
      {...(condition !== undefined && { title: condition })}
      data-effect={effect}
      aria-label={sentence`${name}: ${action} ${resource} ${texts.effects[effect]}`}
      onClick={onOpen}
    >
      <span aria-hidden="true">{MARKS[effect]}</span>
      <span className={classes['word']}>{texts.effects[effect]}</span>
    </UnstyledButton>
  );
}

function PermissionDetail({ permission, link }: { readonly permission: Permission; readonly link: string | undefined }) {
  const { effect, reason, when, residual, policy, rule, action, resource } = permission;
  return (
    <Stack>
      <Text fw={600}>
        {action} {resource}: {texts.effects[effect]}
      </Text>
      <Text size="sm">{readableReason(reason)}</Text>
      {when !== undefined && <ResidualCondition when={when} residual={residual} />}
      {policy && (
        <PolicyLink id={policy.id} rule={rule?.id} size="sm">
          {sentence`${texts.openRule}: ${policy.name}`}
          {rule?.description !== undefined && sentence`, ${rule.description}`}
        </PolicyLink>
      )}
      {link !== undefined && (
        <Anchor href={link} size="sm">
          {texts.simulate}
        </Anchor>
      )}
    </Stack>
  );
}
