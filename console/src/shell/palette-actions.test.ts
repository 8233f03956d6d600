import { describe, expect, it } from 'vitest';
import { paletteGroups } from './palette-actions.ts';

const names = (...given: Parameters<typeof paletteGroups>) => paletteGroups(...given).map(({ group }) => group);
const links = (...given: Parameters<typeof paletteGroups>) => paletteGroups(...given).flatMap((group) => group.links.map(({ to }) => to));

describe('the palette', () => {
  it('has all screens, the resources and the actions for an admin', () => {
    const admin = { isAdmin: true, mayRead: true };
    expect(names(admin, ['Article'])).toEqual(['Screens', 'Records', 'Actions']);
    expect(links(admin, ['Article', 'Order item'])).toEqual(
      expect.arrayContaining(['/policies', '/first-steps', '/data/Article', '/data/Order%20item', '/policies/new']),
    );
  });

  it('has only what any other user may open', () => {
    expect(links({ isAdmin: false, mayRead: false }, ['Article'])).toEqual(['/data', '/account', '/data/Article']);
    expect(links({ isAdmin: false, mayRead: true }, [])).toEqual(['/decisions', '/data', '/account']);
  });

  it('has each address once', () => {
    const all = links({ isAdmin: true, mayRead: true }, ['Article', 'Tip']);
    expect(new Set(all).size).toBe(all.length);
  });
});
