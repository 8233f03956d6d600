import { type Rule, visit } from './rule.ts';

/** Words that have no place in sources, or only in one. Biome knows some too; here each says what to do instead. */
export const wordRules: readonly Rule[] = [
  {
    name: 'environment',
    check(source, report) {
      if (source.isTest || source.path === 'main.ts') return;
      visit(source, {
        MemberExpression({ start, object, property }) {
          if (!isName(object, 'process') || !isName(property, 'env')) return;
          report(start, 'add a setting to settings-table.ts and take its value as an option: only main.ts reads the environment');
        },
      });
    },
  },
  {
    name: 'console',
    check(source, report) {
      visit(source, {
        MemberExpression({ start, object }) {
          if (isName(object, 'console')) report(start, 'log through the logger of http/, or print through the world of cli/');
        },
      });
    },
  },
  {
    name: 'regexp',
    check(source, report) {
      const sentence = 'write a literal, or use re2js for a pattern from outside: a native one can run forever';
      visit(source, {
        NewExpression: ({ start, callee }) => (isName(callee, 'RegExp') ? report(start, sentence) : undefined),
        CallExpression: ({ start, callee }) => (isName(callee, 'RegExp') ? report(start, sentence) : undefined),
      });
    },
  },
  {
    name: 'any',
    check(source, report) {
      visit(source, { TSAnyKeyword: ({ start }) => report(start, 'say unknown and narrow it') });
    },
  },
  {
    name: 'non-null',
    check(source, report) {
      visit(source, {
        TSNonNullExpression: ({ start }) => report(start, 'handle the missing case, or let the type say that there is none'),
      });
    },
  },
  {
    name: 'silent-catch',
    check(source, report) {
      visit(source, {
        CatchClause({ start, body }) {
          if (body.body.length === 0) report(start, 'do something about the error, or let it through');
        },
      });
    },
  },
  {
    name: 'unfinished',
    check(source, report) {
      for (const { start, value } of source.parsed.comments) {
        if (/\b(TODO|FIXME|XXX|HACK)\b/.test(value)) report(start, 'do it now, or write an issue');
      }
    },
  },
  {
    name: 'suppression',
    check(source, report) {
      for (const { start, value } of source.parsed.comments) {
        if (/@ts-(ignore|expect-error|nocheck)|biome-ignore/.test(value)) report(start, 'put right what the check complains about');
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
            report(start, 'take the time as an argument: this layer has no clock');
        },
        NewExpression({ start, callee, arguments: given }) {
          if (isName(callee, 'Date') && given.length === 0) report(start, 'take the time as an argument: this layer has no clock');
        },
      });
    },
  },
  {
    name: 'promise',
    check(source, report, { isPure, moduleOf }) {
      if (source.isTest || !isPure(moduleOf(source.path))) return;
      const sentence = 'work on what is already there: this layer waits for nothing';
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
