import { expect, it } from 'vitest';
import { compileCondition } from '../../conditions/index.ts';
import { renderSql } from '../../sql.ts';
import { parseCondition } from '../condition.fixture.ts';
import { sqliteDialect } from '../sqlite/sql-dialect.ts';
import { define, resourceOf } from '../storage.fixture.ts';
import { sqlTargetFor } from './sql-target.ts';

const DEFINITIONS = define({
  Membership: { fields: { team: { type: 'string' }, level: { type: 'string' } } },
  Document: { fields: { team: { type: 'string' } } },
});

function sqlOf(bounds: object, isNegated: boolean): string {
  const where = [{ field: 'm.level', operator: 'eq', value: 'editor' }];
  const related = { related: { resource: 'Membership', as: 'm', on: { team: '${resource.team}' }, where, ...bounds } };
  const condition = parseCondition({ definitions: DEFINITIONS, resource: 'Document' }, isNegated ? { not: related } : related);
  const target = sqlTargetFor(resourceOf(DEFINITIONS, 'Document'), DEFINITIONS, { dialect: sqliteDialect, now: 0, timeZone: 'UTC' });
  return renderSql(compileCondition(condition, target).where, sqliteDialect.placeholder).sql;
}

/** A second count, of the records for which `where` may be true, costs a second evaluation of `where` for each record. */
it.each([
  [{ atLeast: 2 }, false, ['met']],
  [{ atLeast: 2 }, true, ['possible']],
  [{ atMost: 2 }, false, ['possible']],
  [{ atMost: 2 }, true, ['met']],
  [{ atLeast: 2, atMost: 3 }, false, ['met', 'possible']],
  [{ atLeast: 2, atMost: 3 }, true, ['met', 'possible']],
])('The SQL of %j, negated: %s, counts only %j', (bounds, isNegated, counts) => {
  const text = sqlOf(bounds, isNegated);
  expect(['met', 'possible'].filter((name) => text.includes(`AS "${name}"`))).toEqual(counts);
});
