import { didYouMean, SetupError } from '../errors.ts';
import type { CliCommand, CliContext, CliFlags, CliQuestions } from './cli-context.ts';
import { findFlag, requireFlag } from './flags.ts';

/** The templates of `bailiwick init`, with what each contains. Each is a folder of `templates/`. */
export const PROJECT_TEMPLATES: ReadonlyMap<string, string> = new Map([
  ['blank', 'one resource with its policy'],
  ['newsroom', 'a newspaper with authors, editors and readers'],
  ['multi-tenant', 'an issue tracker for several customers'],
  ['clinic', 'patients, care teams and clinical notes'],
]);

const DEFAULT_FOLDER = 'my-api';
const DEFAULT_TEMPLATE = 'blank';

/** Creates the files of a new project. */
export const init: CliCommand = {
  name: 'init',
  summary: 'create a project: definitions, policies with tests, and files to run it',
  details: [
    'Asks for what is not given, if this is a terminal. The folder must be empty or not exist; otherwise nothing is changed.',
    `Templates:\n${[...PROJECT_TEMPLATES].map(([name, about]) => `  ${name.padEnd(14)}${about}`).join('\n')}`,
  ].join('\n\n'),
  parameters: { '[folder]': 'folder of the project; "." is this folder' },
  flags: {
    '--template <name>': `template of the project: ${[...PROJECT_TEMPLATES.keys()].join(', ')} (default: ${DEFAULT_TEMPLATE})`,
    '--example-data': 'add example users and records, and a script that loads them and shows a denied request',
    '--yes': 'ask nothing; the defaults apply to what is not given',
    '--json': 'print the folder, its files and the next commands as JSON; ask nothing',
  },
  settings: 'none',
  async run(context, _config, flags) {
    const chosen = await chooseProject(context, flags);
    const { folder, files } = await context.createProject(chosen);
    const next = nextCommands(chosen.folder, context.isCheckout);
    if (flags.has('json')) context.print(JSON.stringify({ folder, template: chosen.template, files, next }));
    else for (const line of describeCreated(folder, { template: chosen.template, files: files.length, next })) context.print(line);
    return 0;
  },
};

/** The choices for a new project. */
interface Choices {
  readonly folder: string;
  readonly template: string;
  readonly hasExampleData: boolean;
}

/** Returns the choices, from flags, questions and defaults. */
async function chooseProject(context: CliContext, flags: CliFlags): Promise<Choices> {
  const template = flags.has('template') ? parseTemplate(requireFlag(flags, 'template')) : undefined;
  const askQuestions = flags.has('yes') || flags.has('json') ? undefined : context.askQuestions;
  const given = findFlag(flags, 'folder');
  if (askQuestions === undefined) {
    if (given === undefined || given === '') throw new SetupError('expected a folder, such as: bailiwick init my-api');
    return { folder: given, template: template ?? DEFAULT_TEMPLATE, hasExampleData: flags.has('exampleData') };
  }
  return askQuestions(async ({ ask }) => ({
    folder: given ?? ((await ask(`folder of the project (${DEFAULT_FOLDER}): `)) || DEFAULT_FOLDER),
    template: template ?? (await askTemplate(context, ask)),
    hasExampleData: flags.has('exampleData') || isYes(await ask('add example data? (y/N): ')),
  }));
}

async function askTemplate(context: CliContext, ask: CliQuestions['ask']): Promise<string> {
  const names = [...PROJECT_TEMPLATES.keys()];
  context.print('templates:');
  for (const [index, [name, about]] of [...PROJECT_TEMPLATES].entries()) context.print(`  ${index + 1}  ${name.padEnd(14)}${about}`);
  const answer = (await ask(`template, by number or name (1): `)) || '1';
  return parseTemplate(names[Number(answer) - 1] ?? answer);
}

function parseTemplate(name: string): string {
  if (PROJECT_TEMPLATES.has(name)) return name;
  const known = [...PROJECT_TEMPLATES.keys()];
  throw new SetupError(`there is no template "${name}"${didYouMean(name, known)}; the templates are ${known.join(', ')}`);
}

function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer);
}

/** Returns the commands that start the project. A checkout runs it without installing the package into it. */
function nextCommands(folder: string, isCheckout: boolean): readonly string[] {
  const project = `--project ${quote(folder)}`;
  if (isCheckout) return [`npx bailiwick check ${project}`, `npx bailiwick dev ${project}`];
  return [...(folder === '.' ? [] : [`cd ${quote(folder)}`]), 'npm install', 'npm run dev'];
}

/** Quotes a path for a shell. A path that begins with `-` or `+` gets `./` in front, because `cd` would read an option or a position in its history. */
function quote(folder: string): string {
  const path = /^[-+]/.test(folder) ? `./${folder}` : folder;
  if (/^[\w./@%+:,-][\w./~@%+=:,-]*$/.test(path)) return path;
  return `'${path.replaceAll("'", "'\\''")}'`;
}

interface Created {
  readonly template: string;
  readonly files: number;
  readonly next: readonly string[];
}

function describeCreated(folder: string, { template, files, next }: Created): readonly string[] {
  return [
    `created ${folder} from the template ${template}: ${files} files`,
    'next:',
    ...next.map((command) => `  ${command}`),
    'The service then prints a link that creates the first admin. README.md in the folder continues from there.',
  ];
}
