import type { VisitorObject } from 'rolldown/utils';
import { Visitor } from 'rolldown/utils';
import type { Layers } from './layers.ts';
import type { Source } from './source.ts';

/** A rule that every source keeps. */
export interface Rule {
  readonly name: string;
  /** Calls `report` for each place that breaks the rule, with a sentence that says what to do instead. */
  check(source: Source, report: Report, project: Project): void;
}

/** The layer table and all sources, for rules that compare files. */
export interface Project extends Layers {
  readonly sources: readonly Source[];
}

/** Records a position in the text and a sentence. */
export type Report = (position: number, sentence: string) => void;

/** A place that breaks a rule. */
export interface Finding {
  readonly rule: string;
  readonly path: string;
  readonly line: number;
  readonly sentence: string;
}

/** Returns every place where sources break rules. */
export function findAll(sources: readonly Source[], rules: readonly Rule[], layers: Layers): readonly Finding[] {
  const findings: Finding[] = [];
  const project = { ...layers, sources };
  for (const source of sources) {
    for (const { name, check } of rules) {
      const report: Report = (position, sentence) =>
        findings.push({ rule: name, path: source.path, line: source.lineOf(position), sentence });
      check(source, report, project);
    }
  }
  return findings;
}

/** Calls the functions of a visitor on the nodes of a source. */
export function visit(source: Source, visitor: VisitorObject): void {
  new Visitor(visitor).visit(source.parsed.program);
}
