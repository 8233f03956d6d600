import type { ChildProcess } from 'node:child_process';
import type { Call } from '../load.ts';

/** The cases, in the order in which they are measured. Cases that add records come last, so that lists keep their length. */
export const CASES = ['read by id', 'list of 20', 'list of 20, filter and sort', 'total', 'update', 'create', 'batch of 50'] as const;

/** Name of a case. */
export type CaseName = (typeof CASES)[number];

/** The content of a response, as parsed by its contestant. */
export interface Returned {
  /** Author of each record in the response. */
  readonly authors: readonly string[];
  readonly total?: number;
}

/** The requests of one case to one contestant. */
export interface CaseCall extends Call {
  /** Parses the body of a response. */
  read(body: unknown): Returned;
}

/** The data of a measurement: the articles, and how many of them belong to the caller. */
export interface World {
  /** An empty folder for the contestant. */
  readonly folder: string;
  readonly records: number;
  readonly own: number;
  /** Address of a PostgreSQL server, for contestants that need one. */
  readonly postgres: string;
}

/** A contestant with its data. It can be started several times, one after the other. */
export interface PreparedContestant {
  /** Id of the user who sends the requests. */
  readonly caller: string;
  /** The cases that the contestant supports. */
  readonly calls: Readonly<Partial<Record<CaseName, CaseCall>>>;
  /** A read of an article of another user, which the contestant must refuse. */
  readonly foreign: Call;
  start(): Promise<Service>;
}

/** A running contestant. */
export interface Service {
  readonly url: string;
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

/** A program that is measured over HTTP. */
export interface HttpContestant {
  readonly name: string;
  readonly usesPostgres: boolean;
  /** Path of a program that npm installs only on some systems. */
  readonly needs?: string;
  /** Creates the data. */
  prepare(world: World): Promise<PreparedContestant>;
}

/** Returns the SQL expression over `n(i)` for the owner of an article. */
export function ownerSql({ records, own }: World, owner: string, other: string): string {
  return `CASE WHEN i % ${records / own} = 0 THEN '${owner}' ELSE '${other}' END`;
}

/** Returns the SQL expression for the status: every other article of an owner is published. */
export function statusSql({ records, own }: World): string {
  return `CASE WHEN (i / ${records / own}) % 2 = 0 THEN 'published' ELSE 'draft' END`;
}

/** Returns the SQL expression for a time within one day, such as `2025-01-01T10:59:00.000Z`. */
export function publishedSql({ records, own }: World, between = 'T'): string {
  const minutes = `(i / ${records / own}) % 1440`;
  return `'2025-01-01${between}' || substr(CAST(100 + (${minutes}) / 60 AS TEXT), 2, 2) || ':' || substr(CAST(100 + (${minutes}) % 60 AS TEXT), 2, 2) || ':00.000Z'`;
}

/** Returns the number of the caller's nth article, counted from 0. */
export function ownNumber({ records, own }: World, nth: number): number {
  return ((nth % own) + 1) * (records / own);
}

/** Returns the values of a new article with a unique slug. */
export function newArticle(turn: number | string): { readonly title: string; readonly slug: string; readonly body: string } {
  return { title: `Measured ${turn}`, slug: `measured-${process.pid}-${turn}`, body: 'What happened, and where. '.repeat(8) };
}

/** SQL expression for the body of an article. */
export const BODY_SQL: string = `'${'What happened, and where. '.repeat(8)}'`;
