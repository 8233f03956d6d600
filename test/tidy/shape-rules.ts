import { type Rule, visit } from './rule.ts';
import type { Source } from './source.ts';

const FILE_LINES = 300;
const FUNCTION_LINES = 50;
const PARAMETERS = 3;

/** A thing that belongs in one of these has not been understood yet. */
const PLACELESS: ReadonlySet<string> = new Set([
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

/** How files and functions are built. */
export const shapeRules: readonly Rule[] = [
  {
    name: 'file-length',
    check(source, report) {
      if (source.lines > FILE_LINES) report(0, `${source.lines} lines: split it where its subject does, at most ${FILE_LINES}`);
    },
  },
  {
    name: 'function-length',
    check(source, report) {
      eachFunction(source, ({ start, end }) => {
        const lines = source.lineOf(end) - source.lineOf(start) + 1;
        if (lines > FUNCTION_LINES) report(start, `${lines} lines: give its steps names of their own, at most ${FUNCTION_LINES}`);
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
        ExportDefaultDeclaration: ({ start }) => report(start, 'export it by name, so that it is called the same everywhere'),
      });
    },
  },
  {
    name: 'folder-name',
    check(source, report) {
      for (const name of source.path.replace(/\.ts$/, '').split('/')) {
        if (PLACELESS.has(name)) report(0, `"${name}" says nothing: name it after what it is about`);
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
        report(0, 'begin with 3 to 12 lines of comment: what the folder is for, what it must never do, where to begin');
    },
  },
  {
    name: 'docstring',
    check(source, report) {
      if (source.isTest) return;
      const sentence = 'say in a sentence above it what this exported name is: /** … */';
      let before = '';
      for (const node of source.parsed.program.body) {
        const declared = node.type === 'ExportNamedDeclaration' ? node.declaration : null;
        const text = source.text.slice(node.start, node.end);
        const isSaid = source.text.slice(0, node.start).trimEnd().endsWith('*/') || saysItself(text) || isDerived(text, before);
        if (declared !== null && !isSaid) report(node.start, sentence);
        before = text;
      }
    },
  },
];

/** An operator, a field type: they carry their sentence as data, for the reference. */
function saysItself(text: string): boolean {
  return /^export const \w+: [\w<>]+ = .*\bsummary: /s.test(text);
}

/** `export type Effect = (typeof EFFECTS)[number]` right below `EFFECTS`. */
function isDerived(text: string, before: string): boolean {
  const name = text.match(/^export type \w+ = \(typeof (\w+)\)\[number\];$/)?.[1];
  return name !== undefined && before.startsWith(`export const ${name} `);
}

interface FunctionNode {
  readonly start: number;
  readonly end: number;
  readonly params: readonly object[];
}

/** Tests are data in functions: their length says nothing. */
function eachFunction(source: Source, each: (node: FunctionNode) => void): void {
  if (!source.isTest)
    visit(source, { FunctionDeclaration: each, FunctionExpression: each, ArrowFunctionExpression: each, TSMethodSignature: each });
}
