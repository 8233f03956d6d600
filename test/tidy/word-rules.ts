import { type Rule, visit } from './rule.ts';

/** Words that have no place in sources, or only in one. Biome knows some too; here each says what to do instead. */
export const wordRules: readonly Rule[] = [
  {
    name: 'environment',
    check(source, found) {
      if (source.isTest || source.module === 'main') return;
      visit(source, {
        MemberExpression({ start, object, property }) {
          if (!isName(object, 'process') || !isName(property, 'env')) return;
          found(start, 'add a setting to settings-table.ts and take its value as an option: only main.ts reads the environment');
        },
      });
    },
  },
  {
    name: 'console',
    check(source, found) {
      visit(source, {
        MemberExpression({ start, object }) {
          if (isName(object, 'console')) found(start, 'log through the logger of http/, or print through the world of cli/');
        },
      });
    },
  },
  {
    name: 'regexp',
    check(source, found) {
      const sentence = 'write a literal, or use re2js for a pattern from outside: a native one can run forever';
      visit(source, {
        NewExpression: ({ start, callee }) => (isName(callee, 'RegExp') ? found(start, sentence) : undefined),
        CallExpression: ({ start, callee }) => (isName(callee, 'RegExp') ? found(start, sentence) : undefined),
      });
    },
  },
  {
    name: 'any',
    check(source, found) {
      visit(source, { TSAnyKeyword: ({ start }) => found(start, 'say unknown and narrow it') });
    },
  },
  {
    name: 'non-null',
    check(source, found) {
      visit(source, {
        TSNonNullExpression: ({ start }) => found(start, 'handle the missing case, or let the type say that there is none'),
      });
    },
  },
  {
    name: 'silent-catch',
    check(source, found) {
      visit(source, {
        CatchClause({ start, body }) {
          if (body.body.length === 0) found(start, 'do something about the error, or let it through');
        },
      });
    },
  },
  {
    name: 'unfinished',
    check(source, found) {
      for (const { start, value } of source.parsed.comments) {
        if (/\b(TODO|FIXME|XXX|HACK)\b/.test(value)) found(start, 'do it now, or write an issue');
      }
    },
  },
  {
    name: 'suppression',
    check(source, found) {
      for (const { start, value } of source.parsed.comments) {
        if (/@ts-(ignore|expect-error|nocheck)|biome-ignore/.test(value)) found(start, 'put right what the check complains about');
      }
    },
  },
  {
    name: 'clock',
    check(source, found, { isPure }) {
      if (source.isTest || !isPure(source.module)) return;
      visit(source, {
        CallExpression({ start, callee }) {
          if (callee.type !== 'MemberExpression' || !isName(callee.property, 'now')) return;
          if (isName(callee.object, 'Date') || isName(callee.object, 'performance'))
            found(start, 'take the time as an argument: this layer has no clock');
        },
        NewExpression({ start, callee, arguments: given }) {
          if (isName(callee, 'Date') && given.length === 0) found(start, 'take the time as an argument: this layer has no clock');
        },
      });
    },
  },
  {
    name: 'promise',
    check(source, found, { isPure }) {
      if (source.isTest || !isPure(source.module)) return;
      const sentence = 'work on what is already there: this layer waits for nothing';
      const check = ({ start, async }: { start: number; async: boolean }): void => {
        if (async) found(start, sentence);
      };
      visit(source, { FunctionDeclaration: check, FunctionExpression: check, ArrowFunctionExpression: check });
    },
  },
];

function isName(node: { readonly type: string }, name: string): boolean {
  return node.type === 'Identifier' && 'name' in node && node.name === name;
}
