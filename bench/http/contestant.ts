import type { ChildProcess } from 'node:child_process';
import type { Call } from '../load.ts';

/** What is asked of every contestant, in the order in which it is measured: what adds records comes last, so that lists stay as long as they are. */
export const CASES = ['read by id', 'list of 20', 'list of 20, filter and sort', 'total', 'update', 'create', 'batch of 50'] as const;

/** One of them. */
export type CaseName = (typeof CASES)[number];

/** What an answer shows, as its contestant reads it. */
export interface Shown {
  /** Of each record in it. */
  readonly authors: readonly string[];
  readonly total?: number;
}

/** A case as one contestant is asked it. */
export interface CaseCall extends Call {
  /** Of an answer's body. */
  read(body: unknown): Shown;
}

/** The articles there are, of which one in `step` is the caller's. */
export interface World {
  /** Of the contestant's own, empty. */
  readonly folder: string;
  readonly records: number;
  readonly own: number;
  /** Address of a PostgreSQL server, for those that need one. */
  readonly postgres: string;
}

/** A contestant that answers. */
export interface Service {
  readonly url: string;
  readonly child: ChildProcess;
  /** Its id of the user whose articles the calls are about. */
  readonly caller: string;
  /** Absent where it has nothing like the case. */
  readonly calls: Readonly<Partial<Record<CaseName, CaseCall>>>;
  /** A read of an article that is somebody else's; anything but a refusal puts the contestant out. */
  readonly foreign: Call;
  stop(): Promise<void>;
}

/** Somebody whom users would take instead. */
export interface HttpContestant {
  readonly name: string;
  readonly usesPostgres: boolean;
  /** A program that npm brings for some machines only. */
  readonly needs?: string;
  start(world: World): Promise<Service>;
}

/** Whose article the number is, for an INSERT … SELECT over `n(i)`. */
export function ownerSql({ records, own }: World, owner: string, other: string): string {
  return `CASE WHEN i % ${records / own} = 0 THEN '${owner}' ELSE '${other}' END`;
}

/** Of each owner's articles, every other one is published. */
export function statusSql({ records, own }: World): string {
  return `CASE WHEN (i / ${records / own}) % 2 = 0 THEN 'published' ELSE 'draft' END`;
}

/** Spread over the minutes of a day, as `2025-01-01T10:59:00.000Z`. */
export function publishedSql({ records, own }: World, between = 'T'): string {
  const minutes = `(i / ${records / own}) % 1440`;
  return `'2025-01-01${between}' || substr(CAST(100 + (${minutes}) / 60 AS TEXT), 2, 2) || ':' || substr(CAST(100 + (${minutes}) % 60 AS TEXT), 2, 2) || ':00.000Z'`;
}

/** Number of the nth of the caller's own articles, from 0 on. */
export function ownNumber({ records, own }: World, nth: number): number {
  return ((nth % own) + 1) * (records / own);
}

/** What new articles say, each with a slug of its own. */
export function newArticle(turn: number | string): { readonly title: string; readonly slug: string; readonly body: string } {
  return { title: `Measured ${turn}`, slug: `measured-${process.pid}-${turn}`, body: 'What happened, and where. '.repeat(8) };
}

/** Text of an article, in SQL. */
export const BODY_SQL: string = `'${'What happened, and where. '.repeat(8)}'`;
