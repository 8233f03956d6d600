import { CONFIG_OPTIONS } from '../config/index.ts';
import { SetupError } from '../errors.ts';
import type { CliCommand } from './cli-context.ts';
import { requireFlag } from './flags.ts';
import { isShown } from './shown-settings.ts';

/** Creates the command that prints a completion script for a shell. */
export function createCompletion(commands: ReadonlyMap<string, () => Promise<CliCommand>>): CliCommand {
  return {
    name: 'completion',
    summary: 'print a completion script for bash, zsh or fish',
    details: 'To load it: source <(bailiwick completion bash), in fish: bailiwick completion fish | source.',
    settings: 'none',
    parameters: { '<shell>': 'bash, zsh or fish' },
    async run(context, _, flags) {
      const shell = requireFlag(flags, 'shell');
      const render = SHELLS.get(shell);
      if (render === undefined) throw new SetupError(`expected bash, zsh or fish, given ${JSON.stringify(shell.slice(0, 40))}`);
      context.print(render(await loadWords(commands)));
      return 0;
    },
  };
}

/** The words that can follow a command: the names of its subcommands, or its flags. */
interface CommandWords {
  readonly command: string;
  readonly summary: string;
  readonly words: readonly string[];
}

async function loadWords(commands: ReadonlyMap<string, () => Promise<CliCommand>>): Promise<readonly CommandWords[]> {
  const shared = [...CONFIG_OPTIONS.values()].filter(({ flag }) => flag !== undefined);
  const loaded = await Promise.all([...commands.values()].map((load) => load()));
  const leaves = loaded.map(({ name, summary, flags = {}, settings }) => {
    const own = Object.keys(flags).map((flag) => /--[a-z-]+/.exec(flag)?.[0] ?? '');
    const options = shared.filter((option) => isShown(option, settings)).map(({ flag = '' }) => flag);
    return { command: name, summary, words: [...own, ...options, '--help'] };
  });
  const groups = Map.groupBy(leaves, ({ command }) => (command.includes(' ') ? (command.split(' ')[0] ?? '') : ''));
  const first = leaves.map(({ command }) => command.split(' ')[0] ?? '');
  const parents = [...groups].flatMap(([group, members]) =>
    group === '' ? [] : [{ command: group, summary: '', words: members.map(({ command }) => command.split(' ')[1] ?? '') }],
  );
  return [{ command: '', summary: '', words: [...new Set(first), '--help', '--version'] }, ...parents, ...leaves];
}

// Names and flags consist of letters, digits and hyphens, so no shell needs quotes for them.
const SHELLS: ReadonlyMap<string, (commands: readonly CommandWords[]) => string> = new Map([
  ['bash', renderBash],
  ['zsh', (commands) => `autoload -U +X compinit bashcompinit && compinit && bashcompinit\n${renderBash(commands)}`],
  ['fish', renderFish],
]);

function renderBash(commands: readonly CommandWords[]): string {
  const isGroup = (command: string): boolean => commands.some((other) => other.command.startsWith(`${command} `));
  const cases = commands.map(({ command, words }) => {
    // A command without subcommands can be followed by arguments.
    const pattern = command === '' || command.includes(' ') || isGroup(command) ? `"${command}"` : `"${command}"|"${command} "*`;
    return `    ${pattern}) words="${words.join(' ')}" ;;`;
  });
  return [
    '_bailiwick() {',
    '  local current="${COMP_WORDS[COMP_CWORD]}" command="" words="" word',
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    case "$word" in',
    '      -*) break ;;',
    '      *) [[ "$command" == *" "* ]] || command="${command:+$command }$word" ;;',
    '    esac',
    '  done',
    '  case "$command" in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '  [[ ${#COMPREPLY[@]} -gt 0 ]] || compopt -o default 2>/dev/null',
    '}',
    'complete -F _bailiwick bailiwick',
  ].join('\n');
}

function renderFish(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ command, words }) => {
    const names = command.split(' ').filter((name) => name !== '');
    const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`);
    const isFollowed = words.filter((word) => !word.startsWith('-'));
    const condition = [...seen, ...(isFollowed.length > 0 ? [`not __fish_seen_subcommand_from ${isFollowed.join(' ')}`] : [])].join(
      '; and ',
    );
    return words.map((word) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c bailiwick${condition === '' ? '' : ` -n '${condition}'`} ${what}`;
    });
  });
  return lines.join('\n');
}
