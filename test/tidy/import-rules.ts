import { dirname, join } from 'node:path/posix';
import { type Rule, visit } from './rule.ts';
import { moduleOf, type Source } from './source.ts';

/** Imports between modules: down only, and through the front door. Tests beside a file may import what they like. */
export const importRules: readonly Rule[] = [
  {
    name: 'layer',
    check(source, found, { layerOf }) {
      const own = layerOf.get(source.module);
      if (own === undefined) found(0, `give src/${source.module} a row in the layer table of ARCHITECTURE.md`);
      eachInside(source, (path, position) => {
        const module = moduleOf(path);
        const other = layerOf.get(module);
        if (own === undefined || other === undefined || module === source.module || other < own) return;
        const way = 'receive what you need as an argument, or move it down';
        found(position, `${source.module} (layer ${own}) must not import ${module} (layer ${other}), imports point down: ${way}`);
      });
    },
  },
  {
    name: 'face',
    check(source, found) {
      eachInside(source, (path, position) => {
        if (moduleOf(path) === source.module || !path.includes('/') || path === `${moduleOf(path)}/index.ts`) return;
        found(position, `import ${moduleOf(path)}/index.ts, the face of that folder, and export there what is missing`);
      });
    },
  },
  {
    name: 'package',
    check(source, found, { mayImport }) {
      eachImport(source, (specifier, position) => {
        if (specifier.startsWith('.') || mayImport(source.path, specifier)) return;
        const way = 'leave it to a layer that may, or add it to the table with a reason in docs/decisions/';
        found(position, `${source.path} must not import "${specifier}" (layer table of ARCHITECTURE.md): ${way}`);
      });
    },
  },
  {
    name: 'reader',
    check(source, found, { readersOf }) {
      eachInside(source, (path, position) => {
        const module = moduleOf(path);
        const readers = readersOf.get(module);
        if (readers === undefined || module === source.module || readers.includes(source.module)) return;
        found(position, `take what you need as an option: only ${readers.join(', ')} may import ${module}`);
      });
    },
  },
];

/** Calls `each` for what is imported or re-exported from a file of ours, with its path below the sources. */
function eachInside(source: Source, each: (path: string, position: number) => void): void {
  eachImport(source, (specifier, position) => {
    if (specifier.startsWith('.')) each(join(dirname(source.path), specifier), position);
  });
}

function eachImport(source: Source, each: (specifier: string, position: number) => void): void {
  if (source.isTest) return;
  visit(source, {
    ImportDeclaration: (node) => each(node.source.value, node.start),
    ExportAllDeclaration: (node) => each(node.source.value, node.start),
    ExportNamedDeclaration: (node) => {
      if (node.source !== null) each(node.source.value, node.start);
    },
    ImportExpression: (node) => {
      if (node.source.type === 'Literal') each(String(node.source.value), node.start);
    },
    TSImportType: (node) => each(String(node.source.value), node.start),
  });
}
