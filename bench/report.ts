import type { Figure, Results } from './measurement.ts';
import { renderPlot } from './plot.ts';
import { show } from './show.ts';
import { median, ratioOf } from './statistics.ts';

/** What the page of results needs beside results: names of measurements in their order, and a sentence about each. */
export type Abouts = ReadonlyMap<string, string>;

/** The page's part that is made from results, and its pictures by file name. */
export interface Report {
  readonly markdown: string;
  readonly plots: ReadonlyMap<string, string>;
}

/** Tables and plots of the last results of each measurement. */
export function renderReport(all: readonly Results[], abouts: Abouts): Report {
  const plots = new Map<string, string>();
  const sections = [...abouts].flatMap(([name, about]) => {
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
    return [[`## ${name}`, about, renderCircumstances(results, name), ...parts].join('\n\n')];
  });
  return { markdown: sections.join('\n\n'), plots };
}

/** Figures that are compared: those of one case and one setting. The first of each group is what the others are compared with. */
export function toGroups(figures: readonly Figure[]): readonly (readonly Figure[])[] {
  return [...Map.groupBy(figures, ({ measurement, case: name, setting }) => JSON.stringify([measurement, name, setting])).values()];
}

/** How many times better the first of a group does than another one: more where more is better, in less where less is. */
export function advantageOf(first: Figure, other: Figure): number {
  return first.better === 'more' ? ratioOf(first.rounds, other.rounds) : ratioOf(other.rounds, first.rounds);
}

function findLast(all: readonly Results[], name: string): Results | undefined {
  return all.findLast(({ figures }) => figures.some(({ measurement }) => measurement === name));
}

function renderTable(figures: readonly Figure[]): string {
  const besides = [...new Set(figures.flatMap(({ beside = {} }) => Object.keys(beside)))];
  const head = ['setting', 'contestant', 'median', 'lowest to highest', 'against the first', ...besides];
  const rows = toGroups(figures).flatMap((group) =>
    group.map((figure, index) => renderRow(figure, { first: group[0] ?? figure, index, besides })),
  );
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

interface Row {
  readonly first: Figure;
  readonly index: number;
  readonly besides: readonly string[];
}

function renderRow(figure: Figure, { first, index, besides }: Row): readonly string[] {
  const { setting, contestant, rounds, unit, beside } = figure;
  const spread = `${show(Math.min(...rounds))} to ${show(Math.max(...rounds))}`;
  const against = index === 0 ? '' : `${show(advantageOf(first, figure))} ×`;
  return [
    index === 0 ? setting : '',
    contestant,
    `${show(median(rounds))} ${unit}`,
    rounds.length === 1 ? '' : spread,
    against,
    ...besides.map((name) => (beside?.[name] === undefined ? '' : show(beside[name]))),
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
