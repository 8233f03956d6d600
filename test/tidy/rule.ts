import type { VisitorObject } from 'rolldown/utils';
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

/** A node of a syntax tree, of any type that a visitor names. */
type Node = Parameters<NonNullable<VisitorObject[keyof VisitorObject]>>[0];

/** Calls the functions of a visitor on the nodes of a source, type by type. */
export function visit(source: Source, visitor: VisitorObject): void {
  const nodes = nodesOf(source);
  for (const [type, each] of Object.entries(visitor)) for (const node of nodes.get(type) ?? []) each(node);
}

/** The nodes of each source by their type, because a walk takes longer than the rules, and there are many rules. */
const nodesBySource = new WeakMap<Source, ReadonlyMap<string, readonly Node[]>>();

function nodesOf(source: Source): ReadonlyMap<string, readonly Node[]> {
  const known = nodesBySource.get(source);
  if (known !== undefined) return known;
  const nodes = new Map<string, Node[]>();
  collectNodes(source.parsed.program, nodes);
  nodesBySource.set(source, nodes);
  return nodes;
}

/** Adds a node and the nodes in it, in the order of the text. */
function collectNodes(part: unknown, nodes: Map<string, Node[]>): void {
  if (typeof part !== 'object' || part === null) return;
  if ('type' in part && typeof part.type === 'string') {
    const same = nodes.get(part.type);
    if (same === undefined) nodes.set(part.type, [part as Node]);
    else same.push(part as Node);
  }
  for (const key in part) collectNodes((part as Readonly<Record<string, unknown>>)[key], nodes);
}
