/** Counts the allocations and statements of decisions and requests, and prints the figures as JSON; `measure.ts` runs this program. */
import { bailiwick } from '../contestants/bailiwick.ts';
import { type Run, SHAPES } from '../contestants/shape.ts';
import type { Figure } from '../measurement.ts';
import { allocatedBy } from './allocated.ts';
import { pathOf } from './path.ts';
import {
  type CountedRequest,
  type CountedService,
  countStatements,
  startArticles,
  startArticlesOnPostgres,
  startDocuments,
  startPages,
} from './requests.ts';

const ROUNDS = 3;
/** Decisions and requests of the warm-up, after which the code is compiled. */
const [WARM_RUNS, WARM_REQUESTS] = [50_000, 100];
/** Decisions and requests per sample; few enough to finish between two garbage collections. */
const [RUNS, REQUESTS] = [200, 3];

const figures: Figure[] = [];

for (const shape of SHAPES.slice(0, 3)) {
  const run = await bailiwick.prepare(shape);
  if (run === undefined) throw new Error(`expected ${bailiwick.name} to take part in ${shape.name}`);
  repeat(run, WARM_RUNS);
  const rounds = await roundsOf(() => allocatedBy(() => repeat(run, RUNS), RUNS));
  figures.push(toFigure('allocated by a decision', shape.name, { unit: 'bytes', rounds }));
}

const statements = countStatements();
const services: CountedService[] = [];
for (const start of [startArticles, startDocuments, startPages, startArticlesOnPostgres]) {
  const service = await start();
  services.push(service);
  for (const { name, send } of service.requests) {
    await repeatRequest(send, WARM_REQUESTS);
    const rounds = await roundsOf(() => allocatedBy(() => repeatRequest(send, REQUESTS), REQUESTS));
    figures.push(toFigure('allocated by a request', name, { unit: 'bytes', rounds }));
    const before = statements();
    await repeatRequest(send, REQUESTS);
    figures.push(toFigure('statements of a request', name, { unit: 'statements', rounds: [(statements() - before) / REQUESTS] }));
  }
}
// Last, because coverage changes the allocations.
for (const { name, send } of services.flatMap(({ requests }) => requests)) {
  const { files, functions, calls } = await pathOf(send);
  figures.push(toFigure('files of a request', name, { unit: 'files', rounds: [files] }));
  figures.push(toFigure('functions of a request', name, { unit: 'functions', rounds: [functions] }));
  figures.push(toFigure('calls of a request', name, { unit: 'calls', rounds: [calls] }));
}
for (const { stop } of services) await stop();
process.stdout.write(JSON.stringify(figures));

function repeat(run: Run, times: number): void {
  for (let count = 0; count < times; count++) run();
}

async function repeatRequest(send: CountedRequest['send'], times: number): Promise<void> {
  for (let count = 0; count < times; count++) await send();
}

async function roundsOf(turn: () => Promise<number>): Promise<readonly number[]> {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await turn());
  return rounds;
}

function toFigure(name: string, setting: string, counted: Pick<Figure, 'unit' | 'rounds'>): Figure {
  return { measurement: 'count', case: name, setting, contestant: bailiwick.name, better: 'less', ...counted };
}
