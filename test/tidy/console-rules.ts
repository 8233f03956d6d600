import { constructRules } from './construct-rules.ts';
import { proseRules } from './prose-rules.ts';
import { type Rule, visit } from './rule.ts';
import { shapeRules } from './shape-rules.ts';

/**
 * Rules of `src/` that do not fit the console. Its folders are not modules of the layer table. Biome requires a reason for each suppression, and
 * some effects of React need one. Texts that several screens show are in `common.ts`.
 */
const UNFIT: ReadonlySet<string> = new Set(['environment', 'console', 'clock', 'promise', 'index-header', 'suppression', 'folder-name']);

/** A rule that only the sources of the console have. */
const serviceImport: Rule = {
  name: 'service-import',
  check(source, report) {
    const check = (position: number, from: string): void => {
      if (/^(\.\.\/)+src\//.test(from))
        report(position, 'import nothing from the service: call its API, whose types `npm run docs` generates');
    };
    visit(source, {
      ImportDeclaration: ({ start, source: from }) => check(start, from.value),
      ExportNamedDeclaration: ({ start, source: from }) => check(start, from?.value ?? ''),
    });
  },
};

/** Rules for the sources of the console. */
export const consoleRules: readonly Rule[] = [...shapeRules, ...constructRules, ...proseRules, serviceImport].filter(
  ({ name }) => !UNFIT.has(name),
);
