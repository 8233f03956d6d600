/**
 * Imports and exports of any length: rows in batches and records in pages. Each batch or page is a transaction, so other requests are
 * answered in between, and the policies in force at that time decide.
 *
 * The pipeline decides on, validates and audits each row and page. This folder never decides, and never reads or writes a format
 * (`formats/`) or a socket (`http/`).
 * Begin with `import-handler.ts` and `export-job.ts`.
 */
export { type CommandExport, type CommandImport, exportFromCommand, importFromCommand } from './command-transfer.ts';
export { handleExport } from './export-job.ts';
export { handleImport } from './import-handler.ts';
export { type ImportLimits, limitBytes, type PlainRequest, parseAccept, readBody, type TransferDeps } from './transfer-deps.ts';
