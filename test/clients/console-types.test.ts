import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CONSOLE_TYPES, renderConsoleTypes } from '../../scripts/console-types.ts';

describe('the types of the console', () => {
  it('the types of the console are those of the OpenAPI document; `npm run docs` writes them', () => {
    expect(readFileSync(CONSOLE_TYPES, 'utf8') === renderConsoleTypes()).toBe(true);
  });
});
