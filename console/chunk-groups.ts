import type { CodeSplittingGroup } from 'rolldown';

const PACKAGE = /\/node_modules\//;

/** Tables of the library, and the packages that tables and pickers need: 21 kB, which other screens do not load. */
const TABLES = /@floating-ui\/|@mantine\/core\/esm\/components\/(Table|ScrollArea)\//;

/** Fields with a list that can be searched: those of the library, and those whose items the service searches. */
const PICKERS = /@mantine\/core\/esm\/(components\/(Combobox|Select|Popover)|utils\/Floating)\/|\/components\/([A-Z][a-z]+Picker|picker-)/;

/** Small modules of tables and pickers that other components use. In a group of their own, they do not load those. */
const SMALL_PARTS = /\/(NativeSelect|ComboboxChevron)\/|\/Combobox\.module\.|\/to-int\./;

const EDITOR = /\/node_modules\/(@codemirror|@lezer|@marijn|crelt|style-mod|w3c-keyname)\//;

/** Tables of the console. They import those of the library. */
const DATA_TABLES = /\/components\/(DataTable|PagedState)\./;

/** Minimum number of lazily loaded parts that share a module of a package, so that the module is in the group `kit`. */
const SHARED_PACKAGE = 10;
/** Minimum number of lazily loaded parts that share a module of the console, so that the module is in the group `common`. */
const SHARED_MODULE = 8;

/**
 * The groups of modules that a build writes into one file each. Without them, there is a file for each set of screens that shares modules: 254 files,
 * of which a page loads up to 87. A module belongs to the first group that it matches, and so do the modules that it imports. Groups that few
 * screens need therefore come last. All other modules stay in files of their own.
 */
export const CHUNK_GROUPS: CodeSplittingGroup[] = [
  // The packages of the first page change seldom, so browsers keep their file when the console is updated.
  { name: 'vendor', tags: ['$initial'], test: PACKAGE },
  { name: 'shell', tags: ['$initial'] },
  {
    name: 'kit',
    minShareCount: SHARED_PACKAGE,
    test: (id) => SMALL_PARTS.test(id) || (PACKAGE.test(id) && !TABLES.test(id) && !PICKERS.test(id)),
  },
  { name: 'native-select', minShareCount: 2, test: SMALL_PARTS },
  { name: 'common', minShareCount: SHARED_MODULE, test: (id) => !PACKAGE.test(id) && !DATA_TABLES.test(id) && !PICKERS.test(id) },
  { name: 'tables', minShareCount: 2, test: TABLES },
  { name: 'pickers', minShareCount: 2, test: PICKERS },
  { name: 'editor', test: EDITOR, entriesAware: true },
];
