/** The input of the operations that commands call. */

/** A user to create. */
export interface CliUser {
  readonly email: string;
  readonly name: string;
  /** The role; undefined for the default of the definition. */
  readonly role: string | undefined;
  readonly password: string;
}

/** A file of policies to import. */
export interface CliPolicyFile {
  /** Email of the admin. */
  readonly as: string;
  readonly mediaType: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly dryRun: boolean;
  /** The reason of the change. */
  readonly reason?: string | undefined;
}

/** An import or export of a resource. */
export interface CliTransfer {
  readonly resource: string;
  /** Email of the user whose policies decide. */
  readonly as: string;
  /** The query parameters of the corresponding HTTP request. */
  readonly query: ReadonlyMap<string, string>;
  /** Called with the number of rows processed since the last call. */
  onProgress(rows: number): void;
}

/** A file of records to import. */
export interface CliImportFile extends CliTransfer {
  readonly mediaType: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** The selection and order of the records to export. */
export interface CliExportBody {
  readonly [name: string]: string | readonly string[];
}
