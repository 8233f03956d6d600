import { describe, expect, it } from 'vitest';
import { placeBeside } from './place-beside.ts';

const DESKTOP = { width: 1280, height: 800 };

describe('placeBeside', () => {
  it('a surface is below its element, with the same right edge', () => {
    expect(placeBeside({ left: 1000, right: 1100, top: 100, bottom: 136 }, DESKTOP)).toEqual({
      top: '140px',
      bottom: 'auto',
      left: 'auto',
      right: '180px',
      maxHeight: '652px',
    });
  });

  it('a surface is above an element near the bottom of the window', () => {
    expect(placeBeside({ left: 1000, right: 1100, top: 700, bottom: 736 }, DESKTOP)).toMatchObject({
      top: 'auto',
      bottom: '104px',
      maxHeight: '688px',
    });
  });

  it('a surface has the left edge of an element on the left side of a phone', () => {
    expect(placeBeside({ left: 16, right: 120, top: 100, bottom: 136 }, { width: 375, height: 812 })).toMatchObject({
      left: '16px',
      right: 'auto',
    });
  });

  it('a surface keeps its distance from both edges of the window', () => {
    expect(placeBeside({ left: -20, right: 60, top: 0, bottom: 20 }, DESKTOP)).toMatchObject({ left: '8px' });
    expect(placeBeside({ left: 1200, right: 1290, top: 0, bottom: 20 }, DESKTOP)).toMatchObject({ right: '8px' });
  });
});
