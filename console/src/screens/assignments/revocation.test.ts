import { describe, expect, it } from 'vitest';
import { revocationRefusal } from './revocation.ts';

const own = { name: 'editor', policyName: 'Editors' };
const managed = { name: 'viewer', policyName: 'Viewers', managedBy: 'files' } as const;

/** Removes the marks that isolate names in a sentence. */
const plain = (text: string | undefined) => text?.replaceAll(/[\u2066-\u2069]/g, '');

describe('revocationRefusal', () => {
  it('is undefined if no file manages an assignment', () => {
    expect(revocationRefusal([own, own])).toBeUndefined();
  });

  it('names the assignment that a file manages, and the number of others', () => {
    expect(plain(revocationRefusal([own, managed]))).toMatch(/^Policy files manage the assignment of Viewers to viewer/);
    expect(plain(revocationRefusal([managed, own, managed]))).toMatch(
      /^Policy files manage 2 of these assignments, such as that of Viewers to viewer/,
    );
  });
});
