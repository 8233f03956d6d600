import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { appendEntry, CONTENT, toBeginningHash, toHash } from '../index.ts';
import { hashOfLine, loadCheckpointKey, publicKeyPath, renderCheckpointLine, signCut } from './checkpoint.ts';
import { createCheckpoints, writeRestored } from './checkpoints.ts';
import { loadStart } from './entry-rows.ts';
import { keepContent, openTestAuditLog, type TestAuditLog, testEntry } from './integrity.fixture.ts';

let auditLog: TestAuditLog;

afterEach(() => auditLog.dispose());

const lines = () => readFileSync(auditLog.path, 'utf8').trimEnd().split('\n');
const write = (kept: readonly string[]) => writeFileSync(auditLog.path, kept.map((line) => `${line}\n`).join(''));
const summary = async () => (await auditLog.verify()).breaks.map(({ kind, detail }) => `${kind}: ${detail}`);
const key = () => loadCheckpointKey(auditLog.folder);

/** Writes checkpoints, each after new entries. */
async function fill(count: number): Promise<void> {
  for (let done = 0; done < count; done++) {
    await auditLog.fill([3]);
    await auditLog.checkpoint();
  }
}

describe('checkpoints', () => {
  it('several processes that write their first checkpoint at the same time create one file, in which each line follows another', async () => {
    const { database, path, folder } = auditLog;
    rmSync(path, { force: true });
    await database.transaction(async (tx) => appendEntry(tx, testEntry(1)));
    const writing = { database, path, key: loadCheckpointKey(folder) };
    await Promise.all(Array.from({ length: 4 }, () => writeRestored(writing)));
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { readonly previous: string }).previous === '')).toEqual([true, false, false, false]);
  });

  beforeEach(async () => {
    auditLog = await openTestAuditLog();
  });

  it('checkpoints are signed lines with the new heads, each with the hash of the previous line', async () => {
    await fill(3);
    const parsed = lines().map((line) => JSON.parse(line) as { previous: string; heads: unknown[] });
    expect(parsed.map(({ previous }) => previous)).toEqual(['', hashOfLine(lines()[0] ?? ''), hashOfLine(lines()[1] ?? '')]);
    expect(parsed[0]).toMatchObject({ kind: 'heads', heads: [{ sequence: 3 }] });
    expect(await auditLog.verify()).toMatchObject({ breaks: [], checkpoints: { lines: 3 } });
  });

  it('writes a checkpoint only if there are new entries', async () => {
    const parts = { database: auditLog.database, path: auditLog.path, key: key(), log: () => undefined, interval: 1 };
    const checkpoints = createCheckpoints(parts);
    checkpoints.start();
    await auditLog.fill([3]);
    await expect.poll(() => [...checkpoints.heads.values()]).toMatchObject([{ sequence: 3 }]);
    const made = lines();
    await checkpoints.close();
    expect(lines()).toEqual(made);
  });

  it('writes a checkpoint later if the file cannot be written, and logs the failure once', async () => {
    const lines: string[] = [];
    mkdirSync(auditLog.path);
    const checkpoints = createCheckpoints({
      database: auditLog.database,
      path: auditLog.path,
      key: key(),
      log: (line) => lines.push(line),
      interval: 1,
    });
    checkpoints.start();
    await auditLog.fill([3]);
    await expect.poll(() => lines.length).toBe(1);
    await auditLog.database.transaction(async (tx) => appendEntry(tx, testEntry(1)));
    rmSync(auditLog.path, { recursive: true });
    await expect.poll(() => lines).toHaveLength(2);
    await checkpoints.close();
    expect(lines[0]).toMatch(/checkpoint.*: EISDIR/);
    expect(await summary()).toEqual([]);
  });

  it('the private key can be read only by its owner, and the public key by openssl', async () => {
    await fill(1);
    expect(statSync(join(auditLog.folder, 'checkpoint.ed25519.pem')).mode & 0o777).toBe(0o600);
    expect(statSync(auditLog.path).mode & 0o777).toBe(0o600);
    const text = execFileSync('openssl', ['pkey', '-pubin', '-in', publicKeyPath(auditLog.folder), '-noout', '-text']).toString();
    expect(text).toMatch(/ED25519 Public-Key/i);
    const der = execFileSync('openssl', ['pkey', '-pubin', '-in', publicKeyPath(auditLog.folder), '-outform', 'der']);
    const digest = execFileSync('openssl', ['dgst', '-sha256', '-binary'], { input: der }).toString('base64url');
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ service: digest });
  });

  it('checkpoints of a replaced key are still valid', async () => {
    await fill(1);
    rmSync(join(auditLog.folder, 'checkpoint.ed25519.pem'));
    for (let start = 0; start < 3; start++) key();
    expect(await summary()).toEqual([]);
    expect(readFileSync(publicKeyPath(auditLog.folder), 'utf8').match(/BEGIN/g)).toHaveLength(2);
  });
});

/** Fills one audit log for the tests of a `describe`, each of which finds the same content. */
function fillOnce(fillIt: () => Promise<void>): void {
  let filled: TestAuditLog;
  let openFilled: () => Promise<TestAuditLog>;
  beforeAll(async () => {
    filled = await openTestAuditLog();
    auditLog = filled;
    await fillIt();
    openFilled = await keepContent(filled);
  });
  afterAll(() => filled.dispose());
  beforeEach(async () => {
    auditLog = await openFilled();
  });
}

describe('verification of checkpoints', () => {
  fillOnce(() => fill(4));

  it('finds an edit of each member of a checkpoint', async () => {
    const all = lines();
    const edits = { at: '2020-01-01T00:00:00.000Z', service: 'other', kind: 'cut', previous: 'other', signature: 'AAAA', heads: [] };
    for (const [member, value] of Object.entries(edits)) {
      for (const index of [0, 2, 3]) {
        write(all.with(index, JSON.stringify({ ...JSON.parse(all[index] ?? ''), [member]: value })));
        const found = (await summary()).filter((line) => line.startsWith('signature'));
        expect(found, `${member} of line ${index + 1}`).toEqual([expect.stringContaining(`line ${index + 1} of the checkpoint file is`)]);
      }
    }
  });

  it.each([
    ['the first', [1, 2, 3]],
    ['one between', [0, 2, 3]],
    ['the last', [0, 1, 2]],
    ['all', []],
  ])('finds the removal of checkpoints: %s', async (_, kept) => {
    const all = lines();
    write(kept.map((index) => all[index] ?? ''));
    expect(await summary()).toEqual([expect.stringMatching(/^checkpoint: .*removed$/)]);
  });

  it('finds two swapped lines', async () => {
    const [a = '', b = '', c = '', d = ''] = lines();
    write([a, c, b, d]);
    expect(await summary()).toEqual([expect.stringContaining('line 2 of the checkpoint file does not follow')]);
  });

  it('ignores an incomplete line, which a killed process may have written', async () => {
    appendFileSync(auditLog.path, '{"at":"20');
    expect(await summary()).toEqual([]);
    await fill(1);
    expect(lines()).toHaveLength(6);
    expect(await summary()).toEqual([]);
  });

  it('accepts many lines that follow the same line, because processes may share a file', async () => {
    const previous = hashOfLine(lines().at(-1) ?? '');
    const at = (index: number) => new Date(Date.UTC(2027, 0, 1) + index).toISOString();
    write([
      ...lines(),
      ...Array.from({ length: 256 }, (_, index) => renderCheckpointLine({ at: at(index), kind: 'heads', heads: [], previous }, key())),
    ]);
    expect(await summary()).toEqual([]);
  });

  it('reports lines that are signed by another key, and ignores their heads', async () => {
    const other = loadCheckpointKey(join(auditLog.folder, 'other'));
    const heads = [{ writer: 'unknown', sequence: 9, hash: 'h' }];
    const line = renderCheckpointLine(
      { at: new Date().toISOString(), kind: 'heads', heads, previous: hashOfLine(lines().at(-1) ?? '') },
      other,
    );
    write([...lines(), line]);
    expect(await summary()).toEqual([expect.stringMatching(/^signature: line 5 of the checkpoint file is signed by an unknown key/)]);
  });
});

describe('a restored line', () => {
  fillOnce(async () => {
    await fill(1);
    await writeRestored({ database: auditLog.database, path: auditLog.path, key: key() });
    await fill(1);
  });

  const removeNewest = async () => {
    const { writer = '' } = (await auditLog.rows()).at(-1) ?? {};
    await auditLog.tamper(sql`delete from "_Decision" where "writer" = ${writer}`, sql`delete from "_Chain" where "id" = ${writer}`);
  };

  it.each([
    ['as it is', (line: string) => line],
    ['with a space', (line: string) => `${line} `],
    ['with its signature in another encoding', (line: string) => line.replace(/"}$/, '="}')],
  ])('an appended copy of a line hides nothing: %s', async (_, spell) => {
    await removeNewest();
    const missed = [expect.stringMatching(/^truncated: the whole chain is missing/)];
    expect(await summary()).toEqual(missed);
    write([...lines(), spell(lines()[1] ?? '')]);
    expect(await summary()).toEqual(missed);
  });
});

describe('a signed head', () => {
  fillOnce(() => fill(2));

  it('a signed head reveals a chain that was rewritten from an entry on, with correct hashes', async () => {
    const [{ writer } = { writer: '' }] = await auditLog.rows();
    const rows = (await auditLog.rows()).filter((row) => row.writer === writer);
    const start = await auditLog.database.transaction((tx) => loadStart(tx, writer));
    let hash = toBeginningHash(start as NonNullable<typeof start>);
    for (const row of rows) {
      const forged: Record<string, unknown> = { ...row, allowed: row['allowed'] === 1, ...(row.sequence === 2 && { reason: 'another' }) };
      hash = toHash(
        hash,
        CONTENT.map((name) => (forged[name] ?? null) as string | number | boolean | null),
      );
      await auditLog.tamper(sql`update "_Decision" set "hash" = ${hash}, "reason" = ${forged['reason']} where "id" = ${row.id}`);
    }
    expect((await auditLog.rows()).filter(({ reason }) => reason === 'another')).toHaveLength(1);
    expect(await summary()).toEqual([expect.stringMatching(/^edited: entry 3, .* is not the one that the checkpoint of .* knows/)]);
  });

  it('a signed head reveals a rewritten chain even if the service has signed the rewritten head since', async () => {
    const [{ writer } = { writer: '' }] = await auditLog.rows();
    await auditLog.tamper(sql`delete from "_Decision" where "writer" = ${writer} and "sequence" = 3`);
    const [, { hash } = { hash: '' }] = await auditLog.rows();
    const content = ['put', '2027-01-01T00:00:00.000Z', 'access', null, null, null, null, null, true, ...Array(8).fill(null)];
    const [third, fourth] = [toHash(hash, content), toHash(toHash(hash, content), content.with(0, 'more'))];
    await auditLog.tamper(
      ...[third, fourth].map((each, index) => {
        const id = index === 0 ? 'put' : 'more';
        return sql`insert into "_Decision" ("id", "at", "kind", "allowed", "writer", "sequence", "hash")
          values (${id}, '2027-01-01T00:00:00.000Z', 'access', ${true}, ${writer}, ${3 + index}, ${each})`;
      }),
    );
    await auditLog.checkpoint();
    expect(lines()).toHaveLength(3);
    expect(await summary()).toEqual([expect.stringMatching(/^edited: entry 3, put, is not the one that the checkpoint of .* knows/)]);
  });

  it('the service compares the head that it has signed, and logs a change at once', async () => {
    const lines: string[] = [];
    const checkpoints = createCheckpoints({
      database: auditLog.database,
      path: auditLog.path,
      key: key(),
      log: (line) => lines.push(line),
      interval: 1,
    });
    checkpoints.start();
    await expect.poll(() => checkpoints.heads.size).toBe(2);
    const [{ writer } = { writer: '' }] = await auditLog.rows();
    await auditLog.tamper(sql`delete from "_Decision" where "writer" = ${writer} and "sequence" = 3`);
    await expect.poll(() => lines).toEqual([expect.stringMatching(`^entry 3 of chain ${writer} has changed since it was signed at`)]);
    await checkpoints.close();
    expect([lines.length, checkpoints.heads.get(writer)?.sequence]).toEqual([1, 3]);
  });

  it('discards a signed head if a restored backup does not contain its entry, and reports it', async () => {
    const [first] = await auditLog.rows();
    const writer = first?.writer ?? '';
    await auditLog.tamper(
      sql`delete from "_Decision" where "writer" > ${writer}`,
      sql`delete from "_Chain" where "id" > ${writer}`,
      sql`delete from "_Decision" where "writer" = ${writer} and "sequence" > 2`,
    );
    expect(await summary()).toHaveLength(2);
    await writeRestored({ ...auditLog, key: key() });
    const { breaks, checkpoints } = await auditLog.verify();
    expect([breaks, checkpoints.restored.length]).toEqual([[], 1]);
  });
});

describe('a pruned chain', () => {
  fillOnce(() => fill(2));

  it('a pruned chain is intact after a signed cut, and not after a forged one', async () => {
    const rows = await auditLog.rows();
    const [first, second] = rows as [(typeof rows)[0], (typeof rows)[0]];
    const { writer } = first;
    const cut = signCut({ writer, sequence: 2, hash: second.hash }, { at: '2027-01-01T00:00:00.000Z', key: key() });
    const put = (cut: object) => sql`update "_Chain" set "cut" = ${JSON.stringify(cut)} where "id" = ${writer}`;
    await auditLog.tamper(sql`delete from "_Decision" where "writer" = ${writer} and "sequence" <= 2`);
    expect(await summary()).toHaveLength(1);
    await auditLog.tamper(put(cut));
    expect(await summary()).toEqual([]);
    for (const change of [{ sequence: 1 }, { hash: 'h' }, { at: '' }, { service: 'other' }, { signature: 'AAAA' }]) {
      await auditLog.tamper(put({ ...cut, ...change }));
      expect((await summary())[0]).toMatch(/^signature: the cut of the pruned chain/);
    }
    await auditLog.tamper(put(cut), sql`delete from "_Decision" where "writer" = ${writer}`);
    expect((await summary())[0]).toMatch(/^truncated: /);
    await auditLog.tamper(put(signCut({ writer, sequence: 3, hash: rows[2]?.hash ?? '' }, { at: '', key: key() })));
    expect(await summary()).toEqual([]);
  });
});
