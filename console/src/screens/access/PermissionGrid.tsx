import { Skeleton, Stack, Table, Text, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { isSameDecision } from '../../components/access-change/permission-changes.ts';
import { SideDialog } from '../../components/Dialog.tsx';
import { NamedConditions } from '../../components/decision/NamedConditions.tsx';
import { ResidualCondition } from '../../components/decision/ResidualCondition.tsx';
import { describeResidual } from '../../components/decision/residual-words.ts';
import type { DecidedTrace } from '../../components/decision/trace-references.ts';
import { useTraceVocabulary } from '../../components/decision/trace-vocabulary.ts';
import { PolicyLink } from '../../components/PolicyLink.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { accessTexts as texts } from '../../texts/access.ts';
import { draftTexts } from '../../texts/draft.ts';
import { isolateNames, sentence } from '../../texts/sentence.ts';
import type { SimulatorSearch } from '../simulator/search.ts';
import classes from './PermissionGrid.module.css';
import type { Permission } from './queries.ts';

/** A row of the grid: a name, and the permissions that are loaded so far. */
export interface PermissionRow {
  readonly name: string;
  readonly permissions: readonly Permission[];
  /** The permissions under a draft, if there is one. */
  readonly drafted?: readonly Permission[];
  /** True until the permissions are loaded. */
  readonly isLoading?: boolean;
}

/** The decision of a cell, and that under the draft if there is one. */
interface CellDecision {
  readonly name: string;
  readonly permission: Permission;
  readonly drafted: Permission | undefined;
}

const MARKS = { allow: '✓', deny: '✕', conditional: '?' } as const;

/** Properties of a grid of permissions. */
interface PermissionGridProps {
  readonly label: string;
  /** Title of the column of the rows' names. */
  readonly heading: string;
  readonly actions: readonly string[];
  readonly rows: readonly PermissionRow[];
  /** Returns the question of the simulator about a cell. */
  questionOf(name: string, permission: Permission): SimulatorSearch;
}

/** A heat map of permissions. A cell opens the reason and the rule. Cells that a draft changes are marked. */
export function PermissionGrid({ label, heading, actions, rows, questionOf }: PermissionGridProps) {
  const [open, setOpen] = useState<CellDecision>();
  const isDrafted = rows.some(({ drafted }) => drafted !== undefined);
  const isComplete = rows.every(({ permissions, drafted = [] }) => drafted.length === permissions.length);
  return (
    <NamedConditions decided={rows.flatMap(residualsOf)}>
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
            {rows.map(({ name, permissions, drafted, isLoading = false }) => (
              <Table.Tr key={name} aria-busy={isLoading}>
                <Table.Th scope="row" style={{ overflowWrap: 'anywhere' }}>
                  {name}
                </Table.Th>
                {actions.map((action) => {
                  const permission = permissions.find((each) => each.action === action);
                  const decision = permission && { name, permission, drafted: drafted?.find((each) => each.action === action) };
                  return (
                    <Table.Td key={action} p={2} data-action={action}>
                      {decision && <Cell {...decision} onOpen={() => setOpen(decision)} />}
                      {isLoading && <Skeleton height={34} />}
                    </Table.Td>
                  );
                })}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {isDrafted && isComplete && (
        <Text size="sm" fw={600} role="status">
          {draftTexts.changes(rows.reduce((sum, row) => sum + countChanges(row), 0))}
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {texts.legend}
      </Text>
      <SideDialog
        opened={open !== undefined}
        onClose={() => setOpen(undefined)}
        title={open && sentence`${open.name} · ${open.permission.action}`}
      >
        {open && <CellDetail {...open} question={questionOf(open.name, open.permission)} />}
      </SideDialog>
    </NamedConditions>
  );
}

/** Returns the conditions on which the cells of a row depend. */
function residualsOf({ permissions, drafted = [] }: PermissionRow): readonly DecidedTrace[] {
  return [...permissions, ...drafted].flatMap(({ resource, residual }) => (residual ? [{ resource, trace: residual }] : []));
}

/** Returns the number of permissions of a row that the draft changes. */
function countChanges({ permissions, drafted = [] }: PermissionRow): number {
  return permissions.filter((permission) =>
    isChanged(
      permission,
      drafted.find(({ action }) => action === permission.action),
    ),
  ).length;
}

function isChanged(permission: Permission, drafted: Permission | undefined): drafted is Permission {
  return drafted !== undefined && !isSameDecision(permission, drafted);
}

function Cell({ name, permission, drafted, onOpen }: CellDecision & { onOpen(): void }) {
  const vocabulary = useTraceVocabulary();
  const { action, effect, resource } = permission;
  const changed = isChanged(permission, drafted) ? drafted : undefined;
  const { when, residual, effect: shownEffect } = changed ?? permission;
  const condition = residual === undefined ? when : describeResidual(residual, vocabulary);
  const label = sentence`${name}: ${action} ${resource} ${texts.effects[effect]}`;
  return (
    <UnstyledButton
      className={classes['cell']}
      {...(condition !== undefined && { title: condition })}
      data-effect={shownEffect}
      {...(changed && { 'data-changed': true })}
      aria-label={changed === undefined ? label : sentence`${label}, ${texts.drafted[changed.effect]}`}
      onClick={onOpen}
    >
      <span aria-hidden="true">{changed === undefined ? MARKS[effect] : `${MARKS[effect]} → ${MARKS[shownEffect]}`}</span>
      <span className={classes['word']}>{texts.effects[shownEffect]}</span>
    </UnstyledButton>
  );
}

/** The reason of a decision; if the draft changes it, also that under the draft. */
function CellDetail({ permission, drafted, question }: CellDecision & { readonly question: SimulatorSearch }) {
  if (drafted === undefined) return <PermissionDetail permission={permission} question={question} />;
  return (
    <Stack gap="xl">
      <PermissionDetail title={draftTexts.inForce} permission={permission} />
      {isChanged(permission, drafted) ? (
        <PermissionDetail title={draftTexts.withDraft} permission={drafted} question={question} />
      ) : (
        <>
          <Text size="sm">{texts.sameDraft}</Text>
          <SimulatorLink question={question} />
        </>
      )}
    </Stack>
  );
}

interface PermissionDetailProps {
  readonly title?: string;
  readonly permission: Permission;
  /** The question of the link to the simulator; without it, there is none. */
  readonly question?: SimulatorSearch;
}

function PermissionDetail({ title, permission, question }: PermissionDetailProps) {
  const { effect, reason, when, residual, policy, rule, action, resource } = permission;
  return (
    <Stack>
      {title !== undefined && (
        <Text size="sm" c="dimmed">
          {title}
        </Text>
      )}
      <Text fw={600}>
        {action} {resource}: {texts.effects[effect]}
      </Text>
      <Text size="sm">{isolateNames(reason)}</Text>
      {when !== undefined && <ResidualCondition when={when} residual={residual} />}
      {policy && (
        <PolicyLink id={policy.id} rule={rule?.id} size="sm">
          {sentence`${texts.openRule}: ${policy.name}`}
          {rule?.description !== undefined && sentence`, ${rule.description}`}
        </PolicyLink>
      )}
      {question !== undefined && <SimulatorLink question={question} />}
    </Stack>
  );
}

function SimulatorLink({ question }: { readonly question: SimulatorSearch }) {
  return (
    // The fragment contains the draft.
    <TextLink to="/simulator" search={question} hash={(hash = '') => hash} size="sm">
      {texts.simulate}
    </TextLink>
  );
}
