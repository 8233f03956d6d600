/**
 * Imports and exports of any length: rows in batches and pages, each a transaction of its own, so that others are answered
 * in between, and none rests on policies that are no longer in force.
 *
 * A row or page is decided, checked and recorded by the steps of every request; nothing here decides, or knows how a format
 * is written (that is `transfer/`), or who sends bytes (that is `http/`, and `cli/`).
 * Begin with `import.ts` and `export.ts`, what is done; then the doors, how it is asked for and answered.
 */
export { type CommandExport, type CommandImport, exportFromCommand, importFromCommand } from './command-transfer.ts';
export { answerExport } from './export-job.ts';
export { answerImport } from './import-handler.ts';
export { type ImportBounds, type Plain, readAccepted, readWhole, type TransferDeps } from './transfer-deps.ts';
