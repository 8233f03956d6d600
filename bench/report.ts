import type { Figure, Results } from './measurement.ts';
import { renderPlot } from './plot.ts';
import { show } from './show.ts';
import { median, ratioOf } from './statistics.ts';

/** Descriptions of measurements by name, in the order of the page. */
export type Descriptions = ReadonlyMap<string, string>;

/** The generated part of the page, and its plots by file name. */
export interface Report {
  readonly markdown: string;
  readonly plots: ReadonlyMap<string, string>;
}

/** Renders tables and plots of the last results of each measurement. */
export function renderReport(all: readonly Results[], descriptions: Descriptions): Report {
  const plots = new Map<string, string>();
  const sections = [...descriptions].flatMap(([name, description]) => {
    const results = findLast(all, name);
    if (results === undefined) return [];
    const cases = Map.groupBy(
      results.figures.filter(({ measurement }) => measurement === name),
      (figure) => figure.case,
    );
    const parts = [...cases].map(([title, figures]) => {
      const file = `${toFileName(`${name} ${title}`)}.svg`;
      plots.set(file, renderPlot(`${name}: ${title}`, figures));
      return `### ${title}\n\n![${name}: ${title}](benchmarks/${file})\n\n${renderTable(figures)}`;
    });
    return [[`## ${name}`, description, renderCircumstances(results, name), ...parts].join('\n\n')];
  });
  return { markdown: sections.join('\n\n'), plots };
}

/** Groups figures of the same case and setting. The first of each group is the one that the others are compared with. */
export function toGroups(figures: readonly Figure[]): readonly (readonly Figure[])[] {
  return [...Map.groupBy(figures, ({ measurement, case: name, setting }) => JSON.stringify([measurement, name, setting])).values()];
}

/** Returns how many times better the first figure of a group is than another one. */
export function advantageOf(first: Figure, other: Figure): number {
  return first.better === 'more' ? ratioOf(first.rounds, other.rounds) : ratioOf(other.rounds, first.rounds);
}

function findLast(all: readonly Results[], name: string): Results | undefined {
  return all.findLast(({ figures }) => figures.some(({ measurement }) => measurement === name));
}

function renderTable(figures: readonly Figure[]): string {
  const besideNames = [...new Set(figures.flatMap(({ beside = {} }) => Object.keys(beside)))];
  const head = ['setting', 'contestant', 'median', 'lowest to highest', 'advantage of the first', ...besideNames];
  const rows = toGroups(figures).flatMap((group) =>
    group.map((figure, index) => renderRow(figure, { first: group[0] ?? figure, index, besideNames })),
  );
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

interface Row {
  readonly first: Figure;
  readonly index: number;
  readonly besideNames: readonly string[];
}

function renderRow(figure: Figure, { first, index, besideNames }: Row): readonly string[] {
  const { setting, contestant, rounds, unit, beside } = figure;
  const spread = `${show(Math.min(...rounds))} to ${show(Math.max(...rounds))}`;
  const against = index === 0 ? '' : `${show(advantageOf(first, figure))} ×`;
  return [
    index === 0 ? setting : '',
    contestant,
    `${show(median(rounds))} ${unit}`,
    rounds.length === 1 ? '' : spread,
    against,
    ...besideNames.map((name) => (beside?.[name] === undefined ? '' : show(beside[name]))),
  ];
}

function renderCircumstances({ date, machine, versions, settings }: Results, name: string): string {
  const list = (of: Readonly<Record<string, string>>): string =>
    Object.entries(of)
      .map(([key, value]) => `${key} ${value}`)
      .join(', ');
  return [
    `Measured on ${date}. ${Object.values(machine).join('; ')}.`,
    `Versions: ${list(versions)}.`,
    `Settings: ${list(settings[name] ?? {})}.`,
  ].join('\n');
}

function toFileName(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
