import { describe, expect, it } from 'vitest';
import { type ColumnMapping, suggestMapping } from './column-mapping.ts';
import { type ImportFile, mapFile, openImportFile, splitBy } from './import-file.ts';
import { groupMistakes, REASON_COLUMN, selectRejected, toRanges } from './rejected-rows.ts';

const FIELDS = ['title', 'slug', 'fee', 'tags'].map((name) => ({ name, required: false, readOnly: false }));

function open(name: string, content: string | Uint8Array<ArrayBuffer>): Promise<ImportFile> {
  return openImportFile(new File([content], name), FIELDS);
}

/** Maps a file as suggested, or with another mapping, and returns the text that is sent. */
async function map(name: string, content: string, mapping?: ColumnMapping): Promise<string> {
  const file = await open(name, content);
  return (await mapFile(file, mapping ?? suggestMapping(file.columns, FIELDS))).text();
}

describe('columns of CSV files', () => {
  it('columns get the names of fields, and columns without a field disappear', async () => {
    expect(await map('a.csv', '\uFEFF"TITLE",Note,Slug\r\n"A, b",x,a\r\n\r\n"C ""d""",,c')).toBe(
      'title,slug\r\n"A, b",a\r\n\r\n"C ""d""",c',
    );
  });

  it('a second column with the same name is left out, and can be mapped to another field', async () => {
    expect(await map('a.csv', 'title,title\nA,B\n')).toBe('title\nA\n');
    expect(await map('a.csv', 'title,title\nA,B\n', ['slug', 'title'])).toBe('slug,title\nA,B\n');
  });

  it('hostile names are columns like all others', async () => {
    const file = await open('a.csv', '__proto__,constructor,<img src=x onerror=1>\n1,2,3\n');
    expect(file.columns).toEqual(['__proto__', 'constructor', '<img src=x onerror=1>']);
    expect(await (await mapFile(file, ['title', null, 'slug'])).text()).toBe('title,slug\n1,3\n');
  });

  it('a row with another number of cells keeps a wrong number, so that the service refuses it', async () => {
    const text = await map('a.csv', 'title,x,slug,y\na,1\na,1,b,2,3\na\n1,2,3\n');
    const lines = text.trimEnd().split('\n').slice(1);
    expect(lines.map((line) => line.split(',').length)).toEqual([3, 3, 3, 3]);
    expect(lines.every((line) => line !== '')).toBe(true);
  });

  it('a file whose columns are fields is sent unchanged', async () => {
    const file = await open('a.csv', '\uFEFFtitle,slug\n1,2\n');
    expect(await mapFile(file, ['title', 'slug'])).toBe(file.content);
  });

  it('the delimiter is found, and another one gives other columns', async () => {
    const file = await open('a.csv', 'Title;Slug,x\nA;b,1\n');
    expect(file).toMatchObject({ delimiter: ';', columns: ['Title', 'Slug,x'] });
    expect((await splitBy(file, ',')).columns).toEqual(['Title;Slug', 'x']);
    expect((await open('a.tsv', 'title\tslug\n')).delimiter).toBe('\t');
  });

  it('a file that is not UTF-8 is refused, and a character between two pieces is not', async () => {
    await expect(open('a.csv', new Uint8Array([0xff, 0xfe, 0x41]))).rejects.toThrow('not UTF-8');
    const long = `Title,Slug\n${'ä'.repeat(600_000)},x\n`;
    expect(await map('a.csv', long)).toBe(`title,slug${long.slice(10)}`);
  });
});

describe('columns of JSON files', () => {
  const pretty = JSON.stringify(
    [
      { Title: 'A', note: 1 },
      { slug: 'b', Fee: '1.10' },
    ],
    undefined,
    2,
  );

  it.each([
    ['a.json', pretty],
    ['a.json', `{ "data": ${pretty}, "mode": "upsert" }`],
    ['a.ndjson', '{"Title":"A","note":1}\n{"slug":"b","Fee":"1.10"}\n'],
  ])('members of %s get the names of fields: %j', async (name, text) => {
    const file = await open(name, text);
    expect(file.columns).toEqual(['Title', 'note', 'slug', 'Fee']);
    const lines = (await map(name, text)).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ title: 'A' }, { slug: 'b', fee: '1.10' }]);
  });

  it('numbers keep their digits, and lines that are no objects stay in their place', async () => {
    const lines = await map('a.ndjson', '{"Fee":1.10,"x":0}\n\nnonsense\n[1]\n{"Fee":12345678901234567890}');
    expect(lines).toBe('{"fee":1.10}\n\nnonsense\n[1]\n{"fee":12345678901234567890}\n');
  });

  it('JSON without rows is sent unchanged, and the service names its mistakes', async () => {
    const file = await open('a.json', '[{"title":1}');
    expect(file).toMatchObject({ columns: [], type: 'application/json' });
    expect(await mapFile(file, [])).toBe(file.content);
  });
});

describe('selectRejected', () => {
  const rejected = (row: number) => ({
    row,
    code: 'VALUE_INVALID',
    detail: 'wrong',
    errors: [{ path: 'title', code: 'x', detail: 'too "short"' }],
  });

  it('has the header and the rejected rows of a CSV file, with their reasons', async () => {
    const file = await open('a.csv', 'Title,Slug\n"A\nB",a\n\nC,c\nD,d');
    const text = await (await selectRejected(file, [rejected(2), rejected(5)])).text();
    expect(text).toBe(`Title,Slug,${REASON_COLUMN}\n"A\nB",a,"title: too ""short"""\nD,d,"title: too ""short"""\n`);
    // Imported again, the reasons are left out.
    expect(await map('b.csv', text)).toBe('title,slug\n"A\nB",a\nD,d\n');
  });

  it('has the rejected rows of a JSON file as NDJSON, also those that cannot be read', async () => {
    const file = await open('a.ndjson', '{"title":"A"}\n{"title":\n{"title":"C"}\n');
    const lines = (await (await selectRejected(file, [rejected(2), { row: 3, code: 'ACCESS_DENIED', detail: 'no rule' }])).text()).split(
      '\n',
    );
    expect(lines.slice(0, -1).map((line) => JSON.parse(line))).toEqual([
      { line: '{"title":', [REASON_COLUMN]: 'title: too "short"' },
      { title: 'C', [REASON_COLUMN]: 'no rule' },
    ]);
  });
});

describe('groupMistakes', () => {
  const reject = (row: number, ...mistakes: readonly (readonly [path: string, detail: string])[]) => ({
    ...{ row, code: 'VALUE_INVALID', detail: 'invalid values' },
    errors: mistakes.map(([path, detail]) => ({ path, code: 'format', detail })),
  });

  it('names each mistake once with its rows, and the rarest one first', () => {
    const tags = ['tags', 'expected a JSON array in the cell'] as const;
    const rows = [
      reject(2, tags),
      reject(3, tags),
      reject(5, tags, ['title', 'too long']),
      { row: 7, code: 'ACCESS_DENIED', detail: 'no rule' },
    ];
    expect(groupMistakes(rows)).toEqual([
      { mistake: 'title: too long', rows: [5] },
      { mistake: 'no rule', rows: [7] },
      { mistake: 'tags: expected a JSON array in the cell', rows: [2, 3, 5] },
    ]);
  });

  it('successive rows are one range', () => {
    expect(toRanges([2, 3, 4, 7, 9, 10])).toEqual([
      [2, 4],
      [7, 7],
      [9, 10],
    ]);
    expect(toRanges([])).toEqual([]);
  });
});
