import { describe, expect, it } from 'vitest';
import type { Draft } from './draft.ts';
import { hasDraft, parseFragment, toFragment } from './draft-link.ts';

const DRAFT = {
  policies: [{ id: 'p', name: 'Écriture ✓', rules: [{ resource: 'Article', action: 'read', conditions: [] }] }],
} as unknown as Draft;

describe('a link with a draft', () => {
  it('keeps the draft, in characters that need no escape', async () => {
    const fragment = (await toFragment(DRAFT)) ?? '';
    expect(fragment).toMatch(/^draft=[\w-]+$/);
    expect(hasDraft(fragment)).toBe(true);
    expect(await parseFragment(fragment)).toEqual(DRAFT);
  });

  it('is shorter than the draft if its rules are alike, and does not exist for a draft without an end', async () => {
    const rules = Array.from({ length: 500 }, (_, nth) => ({ resource: 'Article', action: 'read', description: `rule ${nth}` }));
    const long = { policies: [{ id: 'p', rules }] } as unknown as Draft;
    expect((await toFragment(long))?.length).toBeLessThan(JSON.stringify(long).length / 5);
    const random = Array.from({ length: 20_000 }, () => crypto.randomUUID());
    expect(await toFragment({ removePolicies: random } as unknown as Draft)).toBeUndefined();
  });

  it.each(['draft=', 'draft=!', 'draft=AAAA'])('%s has no draft', async (fragment) => {
    await expect(parseFragment(fragment)).rejects.toThrow();
  });

  it('a list is no draft', async () => {
    await expect(toFragment([1] as never).then((fragment) => parseFragment(fragment ?? ''))).rejects.toThrow(TypeError);
  });

  it.each(['', 'top', 'drafts'])('the fragment %j of other links has none', (fragment) => expect(hasDraft(fragment)).toBe(false));

  it('a text that would fill the memory is refused before it is whole', async () => {
    const bytes = await new Response(
      new Blob([`"${'a'.repeat(8_000_000)}"`]).stream().pipeThrough(new CompressionStream('deflate-raw')),
    ).arrayBuffer();
    const fragment = `draft=${Buffer.from(bytes).toString('base64url')}`;
    expect(fragment.length).toBeLessThan(30_000);
    await expect(parseFragment(fragment)).rejects.toThrow(RangeError);
  });
});
