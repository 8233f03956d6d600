/** The types that clients use are those of the definitions and of the schemas. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CLIENT_TYPES, renderServiceTypes } from '../../scripts/client-types.ts';
import { renderProjectTypes } from '../../src/project-documents.ts';

const NEWSROOM = fileURLToPath(new URL('./generated/newsroom.ts', import.meta.url));
const PROJECT = fileURLToPath(new URL('../../examples/newsroom', import.meta.url));

describe('the types of clients', () => {
  it('the types of the service are those of its schemas; `npm run docs` writes them', () => {
    expect(readFileSync(CLIENT_TYPES, 'utf8') === renderServiceTypes()).toBe(true);
  });

  it('the types of the newsroom are those of its definitions; UPDATE_GOLDEN=1 writes them', () => {
    const text = renderProjectTypes(PROJECT);
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(NEWSROOM, text);
    expect(readFileSync(NEWSROOM, 'utf8') === text).toBe(true);
  });
});
