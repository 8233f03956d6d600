/** Expressions that convert texts of callers: a text without a value must not fire an ALLOW and must fire a DENY. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONVERSIONS, type Conversion } from '../reference/cel-conversions.ts';
import { type AttackTarget, startAttackTarget, underRules } from './attack-target.ts';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget();
});
afterAll(() => target.close());

describe.each(CONVERSIONS)('$expression', (conversion) => {
  const { expression, valid, others = [] } = conversion;
  const conditions = [{ expression: expression.replace('TEXT', 'resource.extra.text') }];

  it(`fires an ALLOW of ${expression} only for texts that make it true, and a DENY for all that do not make it false`, async () => {
    const cases = await createCases(conversion);
    const allow = [{ resource: 'Case', action: '*', conditions }];
    const deny = [
      { resource: 'Case', action: '*' },
      { resource: 'Case', action: '*', effect: 'DENY', conditions },
    ];
    expect(await underRules(target, allow, () => allowedTexts(cases))).toEqual({ read: valid.toSorted(), listed: valid.toSorted() });
    expect(await underRules(target, deny, () => allowedTexts(cases))).toEqual({ read: others.toSorted(), listed: others.toSorted() });
  });
});

/** Creates a case for each text; returns the texts by id. */
async function createCases({ valid, others = [], invalid }: Conversion): Promise<ReadonlyMap<string, string>> {
  const texts = [...valid, ...others, ...invalid];
  const requests = texts.map((text) => ({ resource: 'Case', action: 'create', data: { title: 'a text', extra: { text } } }));
  const reply = await target.as('admin', 'POST', '/api/batch', { body: { requests } });
  const items = reply.at('data') as readonly { readonly data: { readonly id: string } }[];
  return new Map(texts.map((text, index) => [items[index]?.data.id ?? '', text]));
}

/** Returns the texts of the cases that Eve reads one by one, and of those that her list returns. */
async function allowedTexts(cases: ReadonlyMap<string, string>): Promise<{ readonly read: string[]; readonly listed: string[] }> {
  const read: string[] = [];
  for (const [id, text] of cases) if ((await target.as('eve', 'GET', `/api/Case/${id}`)).status === 200) read.push(text);
  const list = await target.as('eve', 'GET', '/api/Case?limit=1000');
  const ids = list.status === 403 ? [] : (list.at('data') as readonly { readonly id: string }[]).map(({ id }) => id);
  const listed = ids.flatMap((id) => cases.get(id) ?? []);
  return { read: read.toSorted(), listed: listed.toSorted() };
}
