import { describe, expect, it } from 'vitest';
import { type PressedKey, toKeyAction } from './key-actions.ts';

const PAGE = { tagName: 'BODY' };
const press = (key: string, modifiers: Partial<PressedKey> = {}): PressedKey => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  defaultPrevented: false,
  ...modifiers,
});

describe('toKeyAction', () => {
  it.each([
    ['/', {}, 'search'],
    ['?', {}, 'help'],
    ['/', { ctrlKey: true, altKey: true }, 'search'],
    ['j', {}, 'next'],
    ['K', {}, 'previous'],
    ['Enter', {}, 'open'],
    ['x', {}, 'select'],
    ['k', { ctrlKey: true }, 'palette'],
    ['K', { metaKey: true }, 'palette'],
    ['x', { ctrlKey: true }, undefined],
    ['x', { altKey: true }, undefined],
    ['j', { defaultPrevented: true }, undefined],
    ['a', {}, undefined],
  ] as const)('%s with %j performs %s', (key, modifiers, action) => {
    expect(toKeyAction(press(key, modifiers), PAGE)).toBe(action);
  });

  it.each(['/', '?', 'j', 'k', 'x'])('%s performs nothing if the keys of one character are turned off', (key) => {
    expect(toKeyAction(press(key), PAGE, false)).toBeUndefined();
  });

  it('other keys stay if the keys of one character are turned off', () => {
    expect(toKeyAction(press('k', { ctrlKey: true }), PAGE, false)).toBe('palette');
    expect(toKeyAction(press('Enter'), PAGE, false)).toBe('open');
  });

  it.each([
    [{ tagName: 'INPUT', type: 'text' }],
    [{ tagName: 'TEXTAREA' }],
    [{ tagName: 'SELECT' }],
    [{ tagName: 'DIV', isContentEditable: true }],
  ])('a key that is typed into %j performs nothing', (target) => {
    expect(toKeyAction(press('j'), target)).toBeUndefined();
  });

  it('a box that was ticked takes no characters', () => {
    expect(toKeyAction(press('j'), { tagName: 'INPUT', type: 'checkbox' })).toBe('next');
  });
});
