/** Findings about conditions that the database cannot evaluate. */
import { canSelectRecords } from '../../actions.ts';
import {
  ALWAYS,
  type Comparison,
  type Condition,
  conditionPaths,
  type Path,
  type PathKind,
  type Some,
  UNRESOLVED,
  WITHIN,
  type Within,
} from '../../conditions/index.ts';
import { type Json, OPERATORS, type Operator } from '../../operators/index.ts';
import type { Resource } from '../../resources/index.ts';
import { describePath } from '../context/index.ts';
import { AUDIT_LOG_NAME } from '../policies/index.ts';
import { type ConditionLeaf, toLeaves, toResidual } from './condition-analysis.ts';
import type { RuleFinding } from './finding.ts';
import { definitionsFor, type LintedRule } from './lint-context.ts';

/** Reports a rule whose conditions the database cannot evaluate. Lists then filter the records in memory; the audit log is not shown. */
export function lintInMemory(linted: LintedRule, leaves: readonly ConditionLeaf[]): readonly RuleFinding[] {
  const { rule } = linted;
  const isAuditLog = rule.resource === AUDIT_LOG_NAME;
  if (!isAuditLog && !canSelectRecords(rule.action)) return [];
  const resource = definitionsFor(linted).get(rule.resource);
  const found = leaves.flatMap(toParts).find(({ leaf, condition }) => {
    if (!conditionPaths(condition).some(({ group }) => group === 'resource')) return false;
    if (leaf.type === 'expression') return leaf.integers === undefined;
    return resource !== undefined && !isCompilable({ leaf, condition }, resource, linted);
  });
  if (found === undefined) return [];
  const effect = isAuditLog ? 'requests to the audit log are denied' : 'lists and exports filter the records in memory';
  const detail = `the database cannot evaluate ${nameOf(found.leaf)}: ${effect}`;
  const todo = isAuditLog
    ? 'use a condition that the database can evaluate'
    : 'add a condition that the database can evaluate, so that fewer records are read, unless there are only a few records';
  return [{ code: 'in-memory', member: 'conditions', detail, todo }];
}

/** A condition of a rule: one that stands for itself, or one in the `where` of a condition on related records, of which `condition` is the whole. */
interface ConditionPart {
  readonly leaf: ConditionLeaf['condition'];
  readonly condition: Condition;
}

/** Returns the parts of a condition on related records: the search of the records, and each condition of its `where` by itself. */
function toParts({ condition: leaf }: Pick<ConditionLeaf, 'condition'>): readonly ConditionPart[] {
  if (leaf.type !== 'related') return [{ leaf, condition: leaf }];
  const inside = toLeaves(leaf.where).flatMap(toParts);
  return [
    { leaf, condition: { ...leaf, where: ALWAYS } },
    ...inside.map((part) => ({ ...part, condition: { ...leaf, where: part.condition } })),
  ];
}

function nameOf(leaf: ConditionPart['leaf']): string {
  if (leaf.type === 'expression') return 'this expression';
  if (leaf.type === 'related') return `a condition on records of ${leaf.resource}, which have checksums`;
  return `"${operatorNameOf(comparisonIn(leaf))}" on "${comparisonIn(leaf).path.text}"`;
}

/** Returns the comparison that is made for the records of a list. */
function comparisonIn(condition: Comparison | Within | Some): Comparison | Within {
  // The `where` of a condition that was not evaluated is a comparison, or one through another list.
  return condition.type === 'some' ? comparisonIn(condition.where as Comparison | Within | Some) : condition;
}

function operatorNameOf(condition: Comparison | Within): string {
  return condition.type === 'within' ? WITHIN.name : condition.operator;
}

/** Returns true if the database can evaluate a comparison once the references to the caller are replaced by values of the right kind. */
function isCompilable({ leaf, condition }: ConditionPart, resource: Resource, linted: LintedRule): boolean {
  // The ancestors of the caller's records, and the records of the caller's lists, are known before a list is read.
  if ((condition.type === 'some' || condition.type === 'within') && condition.path.group !== 'resource') return true;
  const describe = describePath(definitionsFor(linted), resource.name);
  const residual: Condition = toResidual(condition, {
    definitions: definitionsFor(linted),
    resource: resource.name,
    now: linted.context.index.now,
    valueOf(path) {
      if (path.group === 'resource' || path.group === 'related') return UNRESOLVED;
      const described = describe(path);
      return sampleOf(path, leaf, described === 'any' || 'problem' in described ? undefined : described);
    },
  });
  return linted.context.canCompileToSql(residual, resource);
}

const SAMPLES: Readonly<Record<PathKind['kind'], Json>> = {
  text: 'x',
  number: 1,
  decimal: '1.00',
  boolean: true,
  date: '2026-01-01',
  timestamp: '2026-01-01T00:00:00.000Z',
  list: ['x'],
  json: 'x',
};

/** A sample operand for each shape that is not a plain value. */
const OPERANDS: Readonly<Partial<Record<Operator['operand'], Json>>> = {
  duration: '1h',
  timesOfDay: ['09:00', '17:00'],
  daysOfWeek: [1],
  networks: '10.0.0.0/8',
};

function sampleOf(path: Path, leaf: ConditionPart['leaf'], kind: PathKind | undefined): Json {
  const comparison = leaf.type === 'related' || leaf.type === 'expression' ? undefined : comparisonIn(leaf);
  const operand = comparison?.operand;
  const operator = comparison && OPERATORS.get(operatorNameOf(comparison));
  const isOperand = operand?.type === 'reference' && operand.path.text === path.text;
  const shaped = isOperand && operator !== undefined ? OPERANDS[operator.operand] : undefined;
  if (shaped !== undefined) return shaped;
  if (kind === undefined) {
    if (isOperand && operator?.operand === 'range') return ['x', 'y'];
    const isListed = isOperand ? operator?.operand === 'scalars' : operand?.type === 'reference' && operator?.kinds.includes('list');
    return isListed === true ? ['x'] : 'x';
  }
  return kind.kind === 'list' ? [SAMPLES[kind.itemKind ?? 'text']] : SAMPLES[kind.kind];
}
