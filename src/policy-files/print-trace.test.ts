import { describe, expect, it } from 'vitest';
import type { Explanation } from '../authz/decision/index.ts';
import type { ConditionTrace } from '../conditions/index.ts';
import { printExplanation } from './print-trace.ts';

function print(condition: ConditionTrace, fired = false): readonly string[] {
  const rule = { id: 'r', effect: 'ALLOW', priority: 100 } as const;
  const policy = { id: 'p', name: 'P', type: 'CUSTOM', priority: 100 } as const;
  const trace = [{ rule, policy, assignment: { priority: 100 }, answer: condition.answer, fired, condition }];
  const explanation: Explanation = { decision: { effect: 'deny', reason: 'no rule matched' }, trace, ties: [] };
  return printExplanation(explanation).slice(1);
}

const FALSE: ConditionTrace = {
  type: 'comparison',
  field: 'user.role',
  operator: 'eq',
  expected: 'editor',
  actual: 'user',
  answer: 'false',
};
const LINES = ['user.role eq "editor": false (user.role is "user")'];
const indented = LINES.map((line) => `    ${line}`);

describe('printExplanation', () => {
  const rows: readonly [what: string, condition: ConditionTrace, lines: readonly string[]][] = [
    ['a comparison', FALSE, [`  ${LINES[0]}`]],
    ['only the parts that are not true', { type: 'all', answer: 'false', of: [{ ...FALSE, answer: 'true' }, FALSE] }, [`  ${LINES[0]}`]],
    ['a group', { type: 'any', answer: 'false', of: [FALSE] }, ['  any of: false', ...indented]],
    ['a negation', { type: 'not', answer: 'unknown', of: FALSE }, ['  not: unknown', ...indented]],
    ['an expression', { type: 'expression', source: 'user.x > 1', answer: 'unknown' }, ['  user.x > 1: unknown']],
    ['a condition that is always unknown', { type: 'constant', answer: 'unknown' }, ['  constant: unknown']],
    [
      'ancestors, from the parent upwards',
      {
        ...FALSE,
        field: 'resource.folderId',
        operator: 'within',
        actual: 'c',
        expected: ['x'],
        ancestors: { resource: 'Folder', ids: ['c', 'b', 'a'], end: 'root' },
      },
      ['  resource.folderId within ["x"]: false (resource.folderId is "c", below "b", "a")'],
    ],
    [
      'texts without effects on a terminal',
      { ...FALSE, field: 'resource.title', actual: 'a\u009b2Jb\u2028c\u202ed\ne' },
      ['  resource.title eq "editor": false (resource.title is "a 2Jb c d\\ne")'],
    ],
    [
      'a broken chain of ancestors',
      {
        ...FALSE,
        field: 'resource.folderId',
        operator: 'within',
        written: `\${user.f}`,
        actual: 'c',
        expected: 'x',
        answer: 'unknown',
        ancestors: { resource: 'Folder', ids: ['c'], end: 'missing' },
      },
      [`  resource.folderId within \${user.f}: unknown (resource.folderId is "c", whose parent does not exist, expected "x")`],
    ],
    [
      'the records of a list of references',
      {
        ...{ type: 'related', resource: 'Team', as: 'resource.teamIds', list: 'resource.teamIds', answer: 'unknown', atLeast: 1 },
        on: [{ field: 'id', expected: ['t1', 't2'] }],
        counts: { true: 0, false: 1, unknown: 1 },
        records: [
          { id: 't1', answer: 'false', where: FALSE },
          { id: 't2', missing: true, answer: 'unknown', where: { type: 'constant', answer: 'unknown' } },
        ],
      },
      [
        '  some record of resource.teamIds: unknown (0 true, 1 false, 1 unknown)',
        ...['    Team t1:', `      ${LINES[0]}`, '    Team t2, which does not exist:', '      constant: unknown'],
      ],
    ],
    [
      'related records with the number of each result',
      {
        type: 'related',
        resource: 'Membership',
        as: 'm',
        on: [
          { field: 'userId', expected: 'u' },
          { field: 'teamId', missing: true },
        ],
        atLeast: 2,
        atMost: 3,
        answer: 'false',
        counts: { true: 0, false: 1, unknown: 0 },
        records: [{ id: 'm1', answer: 'false', where: FALSE }],
      },
      [
        '  at least 2 and at most 3 Membership with userId = "u", teamId = missing: false (0 true, 1 false, 0 unknown)',
        '    m m1:',
        ...LINES.map((line) => `      ${line}`),
      ],
    ],
  ];
  it('prints the limit of related records that are not counted', () => {
    const related: ConditionTrace = {
      ...{ type: 'related', resource: 'Membership', as: 'm', on: [{ field: 'userId', expected: 'u' }], atMost: 3 },
      ...{ answer: 'unknown', moreThan: 1000 },
    };
    expect(print(related)).toEqual(['  at most 3 Membership with userId = "u": unknown (more than 1000 records are not counted)']);
  });

  it('prints all conditions of a rule that fired, and nothing for a rule without conditions', () => {
    const condition: ConditionTrace = { ...FALSE, actual: 'editor', answer: 'true' };
    expect(print(condition, true)).toEqual(['  user.role eq "editor": true (user.role is "editor")']);
    expect(print({ type: 'constant', answer: 'true' }, true)).toEqual([]);
    expect(print({ type: 'all', of: [], answer: 'true' }, true)).toEqual([]);
  });

  it.each(rows)('prints the conditions of a rule that are not true: %s', (_, condition, lines) => {
    expect(print(condition)).toEqual(lines);
  });
});
