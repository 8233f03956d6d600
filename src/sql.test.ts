import { describe, expect, it } from 'vitest';
import { flattenSql, renderSql, type Sql, sql } from './sql.ts';

const render = (fragment: Sql) => renderSql(fragment, (nth) => `$${nth}`);

describe('sql', () => {
  it('binds every value in the order of the text, at any depth', () => {
    const inner = sql`"b" = ${'two'} OR ${sql`"c" = ${3}`}`;
    expect(render(sql`SELECT ${'one'} WHERE (${inner}) LIMIT ${4}`)).toEqual({
      sql: 'SELECT $1 WHERE ("b" = $2 OR "c" = $3) LIMIT $4',
      parameters: ['one', 'two', 3, 4],
    });
  });

  it('flattens a fragment without changing its text or its values', () => {
    const nested = sql`SELECT ${'one'} WHERE (${sql`"b" = ${'two $1 ?'} OR ${sql.join([3, sql`"c"`])}`}) LIMIT ${4}`;
    const flat = flattenSql(nested);
    expect(render(flat)).toEqual(render(nested));
    expect(flat.parts).toEqual(['one', 'two $1 ?', 3, 4]);
    expect(render(sql`(${flat}) OR ${flat}`)).toEqual(render(sql`(${nested}) OR ${nested}`));
    expect(render(flattenSql(sql``))).toEqual({ sql: '', parameters: [] });
  });

  it.each([
    ['\'; DROP TABLE "User"; --'],
    [['a', 'b']],
    [{ texts: ['1 OR 1 = 1'], parts: [] }],
    [{ toOperationNode: () => ({}), compile: () => ({}) }],
    [{ 'Symbol(sql)': true, texts: ['1 OR 1 = 1'], parts: [] }],
    [JSON.parse('{"__proto__":{"texts":["1 OR 1 = 1"],"parts":[]}}')],
    [null],
    [undefined],
    [true],
    [10n],
  ])('binds %o, and writes nothing of it', (value) => {
    expect(render(sql`SELECT ${value}`)).toEqual({ sql: 'SELECT $1', parameters: [value] });
    expect(render(sql.join([value, value]))).toEqual({ sql: '$1, $2', parameters: [value, value] });
  });

  it('quotes names in statements', () => {
    expect(render(sql`${sql.ref('Article.title')} ${sql.ref('id')} ${sql.table('Article')}`).sql).toBe('"Article"."title" "id" "Article"');
    expect(render(sql.ref('a"; DROP TABLE b; --')).sql).toBe('"a""; DROP TABLE b; --"');
    expect(render(sql.table('a".b')).sql).toBe('"a"""."b"');
  });

  it('writes literals in quotes of their own', () => {
    expect(render(sql`${sql.lit("it's")} ${sql.lit(-1.5)}`)).toEqual({ sql: "'it''s' -1.5", parameters: [] });
    expect(render(sql`${sql.lit(2 ** 53 - 1)} ${sql.lit(2 ** 60)}`).sql).toBe('9007199254740991 1.152921504606847e+18');
  });

  it('joins fragments and values', () => {
    expect(render(sql`(${sql.join([sql.ref('a'), 1, sql`${2}`])})`)).toEqual({ sql: '("a", $1, $2)', parameters: [1, 2] });
    expect(render(sql.join([1, 2, 3], sql` OR ${0} = `))).toEqual({ sql: '$1 OR $2 = $3 OR $4 = $5', parameters: [1, 0, 2, 0, 3] });
    expect(render(sql.join([])).sql).toBe('');
    expect(render(sql.join([sql.raw('a')], sql``)).sql).toBe('a');
  });

  it('a fragment can be put into several statements', () => {
    const fragment = sql`"a" = ${1}`;
    for (let again = 0; again < 2; again++) expect(render(sql`${fragment} AND ${fragment}`).parameters).toEqual([1, 1]);
  });
});
