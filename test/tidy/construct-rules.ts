import { type Rule, visit } from './rule.ts';

/** Rules about constructs that sources must not use. Biome refuses some of them too; these rules say what to use instead. */
export const constructRules: readonly Rule[] = [
  {
    name: 'environment',
    check(source, report) {
      if (source.isTest || source.path === 'main.ts') return;
      visit(source, {
        MemberExpression({ start, object, property }) {
          if (!isName(object, 'process') || !isName(property, 'env')) return;
          report(start, 'add a config option and receive its value as an argument: only main.ts reads the environment');
        },
      });
    },
  },
  {
    name: 'console',
    check(source, report) {
      visit(source, {
        MemberExpression({ start, object }) {
          if (isName(object, 'console')) report(start, 'use the logger of http/ or the output of the CLI context');
        },
      });
    },
  },
  {
    name: 'regexp',
    check(source, report) {
      const sentence = 'write a literal, or use re2js for a pattern from a client: a native one can take exponential time';
      visit(source, {
        NewExpression: ({ start, callee }) => (isName(callee, 'RegExp') ? report(start, sentence) : undefined),
        CallExpression: ({ start, callee }) => (isName(callee, 'RegExp') ? report(start, sentence) : undefined),
      });
    },
  },
  {
    name: 'table-in-sql',
    check(source, report) {
      if (source.isTest || !/^(api|project)\//.test(source.path)) return;
      visit(source, {
        TaggedTemplateExpression({ start, tag, quasi }) {
          const text = quasi.quasis.map(({ value }) => value.raw).join('');
          if (isName(tag, 'sql') && /\b(from|join|into|update)\s+"/i.test(text))
            report(start, 'move the statement to a function of storage/, which other folders can call too');
        },
      });
    },
  },
  {
    name: 'any',
    check(source, report) {
      visit(source, { TSAnyKeyword: ({ start }) => report(start, 'use unknown and narrow it') });
    },
  },
  {
    name: 'non-null',
    check(source, report) {
      visit(source, {
        TSNonNullExpression: ({ start }) => report(start, 'handle the missing case, or use a type without undefined'),
      });
    },
  },
  {
    name: 'silent-catch',
    check(source, report) {
      visit(source, {
        CatchClause({ start, body }) {
          if (body.body.length === 0) report(start, 'handle the error, or let it propagate');
        },
      });
    },
  },
  {
    name: 'unfinished',
    check(source, report) {
      for (const { start, value } of source.parsed.comments) {
        if (/\b(TODO|FIXME|XXX|HACK)\b/.test(value)) report(start, 'do it now, or open an issue');
      }
    },
  },
  {
    name: 'suppression',
    check(source, report) {
      for (const { start, value } of source.parsed.comments) {
        if (/@ts-(ignore|expect-error|nocheck)|biome-ignore/.test(value)) report(start, 'fix the error that the check reports');
      }
    },
  },
  {
    name: 'clock',
    check(source, report, { isPure, moduleOf }) {
      if (source.isTest || !isPure(moduleOf(source.path))) return;
      visit(source, {
        CallExpression({ start, callee }) {
          if (callee.type !== 'MemberExpression' || !isName(callee.property, 'now')) return;
          if (isName(callee.object, 'Date') || isName(callee.object, 'performance'))
            report(start, 'receive the time as an argument: this module is pure');
        },
        NewExpression({ start, callee, arguments: given }) {
          if (isName(callee, 'Date') && given.length === 0) report(start, 'receive the time as an argument: this module is pure');
        },
      });
    },
  },
  {
    name: 'promise',
    check(source, report, { isPure, moduleOf }) {
      if (source.isTest || !isPure(moduleOf(source.path))) return;
      const sentence = 'receive loaded values as arguments: this module is pure';
      const check = ({ start, async }: { start: number; async: boolean }): void => {
        if (async) report(start, sentence);
      };
      visit(source, { FunctionDeclaration: check, FunctionExpression: check, ArrowFunctionExpression: check });
    },
  },
];

function isName(node: { readonly type: string }, name: string): boolean {
  return node.type === 'Identifier' && 'name' in node && node.name === name;
}
