/** The status of this process, which `GET /admin/api/system` shows. */

/** An automatic backup. */
export interface BackupFile {
  readonly name: string;
  readonly at: string;
  readonly bytes: number;
}

/** An option of the configuration, without the value of a secret. */
export interface ShownOption {
  readonly name: string;
  readonly group: string;
  readonly source: 'default' | 'flag' | 'environment';
  readonly value?: string | number | readonly string[];
  readonly isHidden?: true;
}

/** The status of the process, without that of the database. No member waits for anything. */
export interface SystemSource {
  /** The version of the program; undefined if another program runs the service. */
  readonly version: string | undefined;
  /** The version of Node.js. */
  readonly node: string;
  readonly startedAt: string;
  readonly options: readonly ShownOption[];
  readonly disk: { readonly freeBytes: number | undefined; readonly databaseBytes: number | undefined; readonly fault: string | undefined };
  uptimeSeconds(): number;
  /** Returns the number of workers that accept requests; undefined if this process is not one of several. */
  runningWorkers(): number | undefined;
  /** Returns the newest automatic backup. */
  lastBackup(): BackupFile | undefined;
}
