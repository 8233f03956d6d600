import { type Rule, visit } from './rule.ts';
import type { Source } from './source.ts';

const FILE_LINES = 300;
const FUNCTION_LINES = 50;
/** Longer, because a component returns its markup, and formatted markup has a line per element. */
const COMPONENT_LINES = 80;
const PARAMETERS = 3;

/** Names that do not tell what a file or a folder contains. */
const VAGUE: ReadonlySet<string> = new Set([
  'utils',
  'helpers',
  'common',
  'lib',
  'shared',
  'core',
  'types',
  'services',
  'managers',
  'misc',
]);

/** Rules about the size and form of files and functions. */
export const shapeRules: readonly Rule[] = [
  {
    name: 'file-length',
    check(source, report) {
      if (source.lines > FILE_LINES) report(0, `${source.lines} lines: split the file by subject, at most ${FILE_LINES}`);
    },
  },
  {
    name: 'function-length',
    check(source, report) {
      const most = source.path.endsWith('.tsx') ? COMPONENT_LINES : FUNCTION_LINES;
      eachFunction(source, ({ start, end }) => {
        const lines = source.lineOf(end) - source.lineOf(start) + 1;
        if (lines > most) report(start, `${lines} lines: extract its steps into functions, at most ${most}`);
      });
    },
  },
  {
    name: 'parameters',
    check(source, report) {
      eachFunction(source, ({ start, params }) => {
        const count = params.filter((param) => !('name' in param && param.name === 'this')).length;
        if (count > PARAMETERS) report(start, `${count} parameters: take one options object instead, at most ${PARAMETERS}`);
      });
    },
  },
  {
    name: 'default-export',
    check(source, report) {
      visit(source, {
        ExportDefaultDeclaration: ({ start }) => report(start, 'export it by name, so that it has the same name in every file'),
      });
    },
  },
  {
    name: 'folder-name',
    check(source, report) {
      for (const name of source.path.replace(/\.tsx?$/, '').split('/')) {
        if (VAGUE.has(name)) report(0, `"${name}" is vague: use a name that tells what is inside`);
      }
    },
  },
  {
    name: 'index-header',
    check(source, report, { moduleOf }) {
      if (source.path !== `${moduleOf(source.path)}/index.ts`) return;
      const [header] = source.text.match(/^\/\*\*.*?\*\//s) ?? [''];
      const lines = header.split('\n').length - 2;
      if (lines < 3 || lines > 12)
        report(0, 'begin with a comment of 3 to 12 lines: the purpose of the folder, its prohibitions, the file to read first');
    },
  },
  {
    name: 'docstring',
    check(source, report) {
      if (source.isTest) return;
      const sentence = 'describe the exported name in a docstring above it: /** … */';
      let before = '';
      for (const node of source.parsed.program.body) {
        const declared = node.type === 'ExportNamedDeclaration' ? node.declaration : null;
        const text = source.text.slice(node.start, node.end);
        const isDocumented = source.text.slice(0, node.start).trimEnd().endsWith('*/') || hasSummary(text) || isDerived(text, before);
        if (declared !== null && !isDocumented) report(node.start, sentence);
        before = text;
      }
    },
  },
];

/** Operators and field types have their description as data, which the reference prints. */
function hasSummary(text: string): boolean {
  return /^export const \w+: [\w<>]+ = .*\bsummary: /s.test(text);
}

/** Returns true for `export type Effect = (typeof EFFECTS)[number]` directly below `EFFECTS`. */
function isDerived(text: string, before: string): boolean {
  const name = text.match(/^export type \w+ = \(typeof (\w+)\)\[number\];$/)?.[1];
  return name !== undefined && before.startsWith(`export const ${name} `);
}

interface FunctionNode {
  readonly start: number;
  readonly end: number;
  readonly params: readonly object[];
}

/** Visits every function. Tests are exempt: a `describe` block is as long as its suite. */
function eachFunction(source: Source, each: (node: FunctionNode) => void): void {
  if (!source.isTest)
    visit(source, { FunctionDeclaration: each, FunctionExpression: each, ArrowFunctionExpression: each, TSMethodSignature: each });
}
