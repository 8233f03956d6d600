import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SetupError } from '../errors.ts';
import { loadDefinitions } from './project-definitions.ts';

let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'bailiwick-project-'));
});
afterEach(() => rmSync(project, { recursive: true }));

describe('loadDefinitions', () => {
  it('refuses a missing folder of definitions with the next step', () => {
    expect(() => loadDefinitions(project)).toThrow(/^there is no folder .*resources; name the folder .*--project/);
  });

  it('refuses a folder of definitions that cannot be read, without mistakes of files that refer to them', () => {
    writeFileSync(join(project, 'resources'), '');
    const refused = new SetupError(`cannot read the folder of definitions ${join(project, 'resources')} (ENOTDIR)`);
    expect(() => loadDefinitions(project)).toThrow(refused);
  });
});
