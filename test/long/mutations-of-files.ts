import type { Mutation } from './mutation.ts';

/** Mutations of files that are made beside the database, which must survive a power cut. */
export const MUTATIONS_OF_FILES: readonly Mutation[] = [
  {
    name: 'the name of a new key is not synced',
    file: 'src/files/key-file.ts',
    find: '  // What the key signs must not outlive it.\n  syncFolder(dirname(path));\n',
    replace: '',
    red: 'test/power-cuts/new-files.test.ts',
    test: 'leaves a key whole once it is made',
  },
  {
    name: 'the name of a new folder is not synced',
    file: 'src/files/safe-files.ts',
    find: '    syncFolder(dirname(folder));\n',
    replace: '',
    red: 'test/power-cuts/new-files.test.ts',
    test: 'leaves a key whole once it is made',
  },
  {
    name: 'a file is replaced before its new content is synced',
    file: 'src/files/key-file.ts',
    find: '    fsyncSync(file);\n',
    replace: '',
    red: 'test/power-cuts/new-files.test.ts',
    test: 'leaves the former or the new content of a file that is being replaced',
  },
  {
    name: 'the name of a checkpoint file that another process makes is not synced',
    file: 'src/audit/integrity/checkpoint-file.ts',
    find: '    syncFolder(dirname(path));\n',
    replace: '',
    red: 'test/power-cuts/new-files.test.ts',
    test: 'leaves a line of checkpoints in a file that another process makes whole once it is made',
  },
  {
    name: 'a checkpoint is not synced',
    file: 'src/audit/integrity/checkpoint-file.ts',
    find: '    await file.sync();\n',
    replace: '',
    red: 'test/power-cuts/new-files.test.ts',
    test: 'leaves a further line of checkpoints whole once it is made',
  },
  {
    name: 'the name of a backup is not synced',
    file: 'src/storage/sqlite/write-backup.ts',
    find: '    syncFolder(dirname(file));\n',
    replace: '',
    red: 'test/power-cuts/new-files.test.ts',
    test: 'leaves a backup whole once it is made',
  },
  {
    name: 'a backup whose name cannot be synced is kept',
    file: 'src/storage/sqlite/write-backup.ts',
    find: '    rmSync(file, { force: true });\n',
    replace: '',
    red: 'test/power-cuts/new-files.test.ts',
    test: 'leaves no file of a backup that failed, whichever of its syncs fails',
  },
  {
    name: 'a CSV row has any number of cells',
    file: 'src/transfer/formats/csv.ts',
    find: 'index < MAX_CELLS ? cell : refuseCells(lines)',
    replace: 'lines < 0 ? refuseCells(index) : cell',
    red: 'src/transfer/formats/csv.test.ts',
    test: 'reads CSV: a row with too many empty cells',
  },
];
