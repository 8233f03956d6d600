import { type Comparison, type Condition, conditionPaths, type Path, type PathKind, UNRESOLVED } from '../../conditions/index.ts';
import { type Json, OPERATORS, type Operator } from '../../operators/index.ts';
import type { Resource } from '../../resources/index.ts';
import { describePath } from '../context/index.ts';
import { type ConditionLeaf, toResidual } from './condition-leaves.ts';
import type { RuleFinding } from './finding.ts';
import { type LintedRule, lintedDefinitions } from './lint-subject.ts';

/** Remarks on a rule whose lists the database cannot filter: the rest is evaluated record by record. */
export function lintInMemoryLists(subject: LintedRule, leaves: readonly ConditionLeaf[]): readonly RuleFinding[] {
  const { rule } = subject;
  if (!['list', 'export', '*'].includes(rule.action)) return [];
  const resource = lintedDefinitions(subject).get(rule.resource);
  const unsaid = leaves.find(({ condition }) => {
    if (!conditionPaths(condition).some(({ group }) => group === 'resource')) return false;
    if (condition.type === 'expression') return condition.integers === undefined;
    return resource !== undefined && !isSaid(condition, resource, subject);
  })?.condition;
  if (unsaid === undefined) return [];
  const what = unsaid.type === 'expression' ? 'this expression' : `"${unsaid.operator}" on "${unsaid.path.text}"`;
  const detail = `the database cannot say ${what}: lists and exports by this rule are evaluated record by record`;
  const todo = 'put a condition beside it that the database can say, so that fewer records are read; or leave it, where records are few';
  return [{ code: 'in-memory', member: 'conditions', detail, todo }];
}

/** Returns whether the database can evaluate a comparison once the references to the caller are replaced by values of the right kind. */
function isSaid(comparison: Comparison, resource: Resource, subject: LintedRule): boolean {
  const describe = describePath(lintedDefinitions(subject), resource.name);
  const left: Condition = toResidual(comparison, {
    definitions: lintedDefinitions(subject),
    resource: resource.name,
    now: subject.around.standings.now,
    valueOf(path) {
      if (path.group === 'resource') return UNRESOLVED;
      const described = describe(path);
      return sampleOf(path, comparison, described === 'any' || 'problem' in described ? undefined : described);
    },
  });
  return subject.around.isSaidInSql(left, resource);
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

/** A right side of each shape that is not a value to compare with. */
const OPERANDS: Readonly<Partial<Record<Operator['operand'], Json>>> = {
  duration: '1h',
  timesOfDay: ['09:00', '17:00'],
  daysOfWeek: [1],
  networks: '10.0.0.0/8',
};

function sampleOf(path: Path, { operator: name, operand }: Comparison, kind: PathKind | undefined): Json {
  const operator = OPERATORS.get(name);
  const isOperand = operand.type === 'reference' && operand.path.text === path.text;
  const shaped = isOperand && operator !== undefined ? OPERANDS[operator.operand] : undefined;
  if (shaped !== undefined) return shaped;
  if (kind === undefined) {
    if (isOperand && operator?.operand === 'range') return ['x', 'y'];
    const isList = isOperand ? operator?.operand === 'scalars' : operand.type === 'reference' && operator?.kinds.includes('list');
    return isList === true ? ['x'] : 'x';
  }
  return kind.kind === 'list' ? [SAMPLES[kind.itemKind ?? 'text']] : SAMPLES[kind.kind];
}
