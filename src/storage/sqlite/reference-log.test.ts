import { beforeEach, describe, expect, it } from 'vitest';
import { ReferenceLog } from './reference-log.ts';

let log: ReferenceLog;
let isInTransaction: boolean;
let dataVersion: number;
beforeEach(() => {
  [isInTransaction, dataVersion] = [false, 1];
  log = new ReferenceLog({ isInTransaction: () => isInTransaction, loadDataVersion: () => dataVersion });
});

describe('the log of references', () => {
  it('names the records that have a new reference since a position', () => {
    log.add('Node', ['a']);
    const position = log.position();
    log.add('Node', ['b', 'c']);
    expect(log.isUnchangedSince(position, 'Node', ['a'])).toBe(true);
    expect(log.isUnchangedSince(position, 'Node', ['a', 'c'])).toBe(false);
    expect(log.isUnchangedSince(position, 'Page', ['c'])).toBe(true);
    expect(log.isUnchangedSince(log.position(), 'Node', ['c'])).toBe(true);
  });

  it('counts a second reference to the same record', () => {
    log.add('Node', ['a']);
    const position = log.position();
    log.add('Node', ['a']);
    expect(log.isUnchangedSince(position, 'Node', ['a'])).toBe(false);
  });

  it('a position in a commit batch is before the references of the batch, which a snapshot may not contain', () => {
    log.begin();
    isInTransaction = true;
    log.add('Node', ['a']);
    const position = log.position();
    isInTransaction = false;
    expect(log.isUnchangedSince(position, 'Node', ['a'])).toBe(false);
  });

  it('a write of another process counts as a reference to every record', () => {
    const position = log.position();
    dataVersion++;
    expect(log.isUnchangedSince(position, 'Node', ['a'])).toBe(false);
  });

  it('references that it has forgotten count as references to every record', () => {
    const position = log.position();
    log.add('Node', ['first']);
    log.add(
      'Page',
      Array.from({ length: 10_000 }, (_, n) => `p${n}`),
    );
    expect(log.isUnchangedSince(position, 'Node', ['first'])).toBe(false);
    expect(log.isUnchangedSince(position, 'Node', ['other'])).toBe(false);
    const later = log.position();
    expect(log.isUnchangedSince(later, 'Node', ['first'])).toBe(true);
  });
});
