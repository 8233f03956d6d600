/** Parses the output of strace into the operations on the files of a disk, and the responses that the program sent meanwhile. */
import { posix } from 'node:path';

/** An operation on a file of the disk, or a response. Paths are relative to the uppermost folder of the disk, which is `''` itself. */
export type FileEvent =
  | { readonly kind: 'create' | 'mkdir'; readonly path: string }
  | { readonly kind: 'unlink'; readonly path: string }
  | { readonly kind: 'link'; readonly from: string; readonly to: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  /** Without an offset, the bytes are appended. */
  | { readonly kind: 'write'; readonly path: string; readonly offset: number | undefined; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
  /** The end of a sync of what the events before the event number `begin` changed. */
  | { readonly kind: 'sync'; readonly path: string; readonly begin: number }
  | { readonly kind: 'failedSync'; readonly path: string; readonly begin: number }
  /** A response to a request, a printed setup token, or the end of a command, which has an id as well. */
  | { readonly kind: 'response'; readonly requestId: string };

/** Arguments of strace that record what `parseTrace` reads. With `-D`, the traced process is the child, so that it receives the signals. */
export const STRACE: readonly string[] = [
  ...['strace', '-D', '-f', '-y', '-xx', '-q', '--seccomp-bpf', '-s', '16777216', '-e', 'signal=none', '-e'],
  'trace=openat,open,creat,mkdir,mkdirat,rmdir,write,writev,pwrite64,pwritev,pwritev2,fsync,fdatasync,truncate,ftruncate,fallocate,link,linkat,rename,renameat,renameat2,unlink,unlinkat,copy_file_range',
];

/** The last line of a trace. */
export const LAST_LINE = /^\d+ +\+\+\+ (exited|killed)/;

/** A system call. `given` has its arguments as traced, with texts and paths in hexadecimal. */
interface Call {
  readonly thread: string;
  readonly name: string;
  readonly given: string;
  readonly result: number;
}

const COMPLETE = /^(\d+) +(\w+)\((.*)\) += (-?\d+)/;
const UNFINISHED = /^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$/;
const RESUMED = /^(\d+) +<\.\.\. (\w+) resumed>.* = (-?\d+)/;
const HEX = '((?:\\\\x[0-9a-f]{2})*)';
const TEXTS = new RegExp(`"${HEX}"`, 'g');
/** A file descriptor with its path. The path of a file that has no name any more is followed by `(deleted)`. */
const DESCRIPTOR = new RegExp(`^\\d+<${HEX}>(?!\\(deleted\\))`);
const REQUEST_ID = /^HTTP\/1\.1 .*\r\nx-request-id: ([\w-]+)\r\n/s;
/** The setup token in the lines that a start prints. */
const SETUP_TOKEN = /\/console\/setup#token=([\w-]+)\n/;
const MARK = /^-- done: (.*)$/;

/** Returns a line for the end of a trace, which says that a command has ended. */
export function toMark(id: string): string {
  return `-- done: ${id}`;
}

/** Returns the events of a trace in their order. @throws if the trace has an operation on the disk that this parser does not know. */
export function parseTrace(lines: Iterable<string>, root: string): readonly FileEvent[] {
  const events: FileEvent[] = [];
  const begun = new Map<string, { readonly call: Call; readonly begin: number }>();
  for (const line of lines) {
    const [, done] = MARK.exec(line) ?? [];
    if (done !== undefined) events.push({ kind: 'response', requestId: done });
    // An unfinished write has no result yet; some or all of its bytes may reach the disk.
    const [, thread = '', name = '', given = '', result = 'Infinity'] = COMPLETE.exec(line) ?? UNFINISHED.exec(line) ?? [];
    const call: Call = { thread, name, given, result: Number(result) };
    const resumed = RESUMED.exec(line);
    if (resumed !== null) {
      const started = begun.get(resumed[1] ?? '');
      if (started !== undefined) events.push(...toEvents({ ...started.call, result: Number(resumed[3]) }, { root, begin: started.begin }));
    } else if (line.endsWith('<unfinished ...>') && isSync(call)) begun.set(thread, { call, begin: events.length });
    else if (name !== '' && (call.result >= 0 || isSync(call))) events.push(...toEvents(call, { root, begin: events.length }));
    if (resumed !== null) begun.delete(resumed[1] ?? '');
  }
  return events;
}

function isSync({ name }: Call): boolean {
  return name === 'fsync' || name === 'fdatasync';
}

interface TraceContext {
  readonly root: string;
  readonly begin: number;
}

/** Returns the events of a call: none if it concerns neither the disk nor a response. */
function toEvents({ name, given, result }: Call, { root, begin }: TraceContext): readonly FileEvent[] {
  const within = (path: string | undefined): string | undefined => {
    const relative = path === undefined || path === '' ? '..' : posix.relative(root, path);
    // The index of the write-ahead log is memory that processes share: the first that opens the database writes it again.
    return relative.startsWith('..') || relative.endsWith('-shm') ? undefined : relative;
  };
  const texts = (): Buffer => Buffer.concat([...given.matchAll(TEXTS)].map(([, hex]) => decode(hex)));
  const paths = (): readonly (string | undefined)[] => [...given.matchAll(TEXTS)].map(([, hex]) => within(decode(hex).toString()));
  const opened = DESCRIPTOR.exec(given)?.[1];
  const path = opened === undefined ? paths()[0] : within(decode(opened).toString());
  if (path === undefined) {
    const text = name.startsWith('write') ? texts().toString('latin1') : '';
    const [, requestId] = REQUEST_ID.exec(text) ?? SETUP_TOKEN.exec(text) ?? [];
    return requestId === undefined ? [] : [{ kind: 'response', requestId }];
  }
  const numbers = given.split(', ').map(Number);
  switch (name) {
    case 'openat':
      return [
        ...(given.includes('O_CREAT') ? [{ kind: 'create', path } as const] : []),
        ...(given.includes('O_TRUNC') ? [{ kind: 'truncate', path, size: 0 } as const] : []),
      ];
    case 'write':
      return [{ kind: 'write', path, offset: undefined, bytes: texts().subarray(0, result) }];
    case 'pwrite64':
      return [{ kind: 'write', path, offset: numbers.at(-1), bytes: texts().subarray(0, result) }];
    case 'ftruncate':
      return [{ kind: 'truncate', path, size: numbers.at(-1) ?? 0 }];
    case 'fsync':
    case 'fdatasync':
      return [{ kind: result < 0 ? 'failedSync' : 'sync', path, begin }];
    case 'unlink':
      return [{ kind: 'unlink', path }];
    case 'unlinkat':
      // A path that is relative to another folder has a descriptor.
      if (opened === undefined) return [{ kind: 'unlink', path }];
      break;
    case 'link':
    case 'rename':
      return [{ kind: name, from: path, to: paths()[1] ?? '..' }];
    case 'mkdir':
      return [{ kind: 'mkdir', path }];
  }
  throw new Error(`expected a known operation on ${path}, given ${name}`);
}

function decode(hex = ''): Buffer {
  return Buffer.from(hex.replaceAll('\\x', ''), 'hex');
}
