/** The export of the audit log to a file of any length, page by page. Each page is a transaction of its own, which admits the caller again. */
import { type AuditEntry, type EntryPage, type EntryQuery, searchEntries } from '../../audit/index.ts';
import { AUDIT_LOG_NAME } from '../../authz/policies/index.ts';
import type { Field } from '../../fields/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { NO_CONTENT } from '../../request/index.ts';
import { columnsOf } from '../../resources/index.ts';
import { Input, OneOf, Type } from '../../schemas/index.ts';
import { createWriter, FORMATS } from '../../transfer/formats/index.ts';
import { type AdminEndpoint, type AdminRequest, adminEndpoint, loadLaterPage } from '../admin/index.ts';
import { withoutFacts } from '../admission/index.ts';
import { lineByLine, TEXT } from '../schema-members.ts';
import { ENTRY, ENTRY_COLUMNS } from './audit-schemas.ts';
import { QUERY_FILTERS, toEntryFilter } from './decision-filters.ts';

/** Entries of a page, which limits the memory of an export and the time that other requests wait. */
const PAGE_ENTRIES = 250;

const exportDecisions = adminEndpoint({
  method: 'GET',
  path: '/decisions/export',
  id: 'decisions.export',
  auditorAction: 'export',
  streams: 'answer',
  tag: 'Admin decisions',
  summary: 'Exports the audit log to a file.',
  description:
    'Without `to`, up to now. The entry of the export itself is written before the file begins. The connection is closed before the end of the file if the token expires, or if the session or the right of the caller ends. Users who are not admins need a rule that allows `export` on the resource `_Decision`. They get no `facts`.',
  query: Input({
    format: Type.Optional(OneOf(['csv', 'ndjson'], { description: 'The format of the file. Default: `ndjson`.' })),
    ...QUERY_FILTERS,
    order: Type.Optional(OneOf(['newest', 'oldest'], { description: 'The first entries. Default: `newest`.' })),
  }),
  answers: {
    200: {
      description: 'The file.',
      schema: NO_CONTENT,
      files: { 'text/csv': TEXT, 'application/x-ndjson': lineByLine(ENTRY) },
    },
  },
  async handle(admin) {
    const { format = 'ndjson', order, ...filters } = admin.query;
    const filter = toEntryFilter(filters, admin.auditor);
    const to = Math.min(filter.to ?? Number.POSITIVE_INFINITY, admin.tx.now + 1);
    const [type] = FORMATS.get(format)?.types ?? ['application/octet-stream'];
    return {
      status: 200,
      headers: { 'content-disposition': `attachment; filename="decisions.${format}"` },
      body: undefined,
      contentType: format === 'csv' ? `${type}; charset=utf-8; header=present` : type,
      pieces: writeFile(admin, { format, search: { ...filter, order, to, limit: PAGE_ENTRIES } }),
    };
  },
});

/** The endpoint that exports the audit log. */
export const decisionExportEndpoints: readonly AdminEndpoint[] = [exportDecisions];

interface ExportedFile {
  readonly format: 'csv' | 'ndjson';
  readonly search: EntryQuery;
}

/** Yields the file in pieces. Throws in the middle of the file if the caller is no longer admitted, which aborts the response. */
async function* writeFile(admin: AdminRequest, { format, search }: ExportedFile): AsyncGenerator<string> {
  const fields = exportedFields(admin);
  const writer = createWriter({ format, fields, delimiter: ',', guardFormulas: true });
  yield writer.begin();
  let cursor: string | undefined;
  do {
    const { entries, next } = await loadPage(admin, { ...search, cursor });
    yield writer.rows(entries.map((entry) => toRecord(entry, fields)));
    cursor = next;
  } while (cursor !== undefined);
  yield writer.end();
}

function loadPage(admin: AdminRequest, search: EntryQuery): Promise<EntryPage> {
  return loadLaterPage(admin, async (tx, { auditor }) => {
    const { entries, ...more } = await searchEntries(tx, { ...search, where: auditor?.where });
    // An admin may have become an auditor since the export began.
    return { ...more, entries: auditor === undefined ? entries : entries.map(withoutFacts) };
  });
}

/** Returns the columns of the file: all members of an entry, for auditors without the values that conditions read. */
function exportedFields({ snapshot, auditor }: AdminRequest): readonly Field[] {
  const log = snapshot.definitions.get(AUDIT_LOG_NAME);
  const fields = new Map((log === undefined ? [] : columnsOf(log)).map(({ field }) => [field.name, field]));
  return ENTRY_COLUMNS.filter((name) => name !== 'facts' || auditor === undefined).flatMap((name) => fields.get(name) ?? []);
}

function toRecord(entry: AuditEntry, fields: readonly Field[]): JsonObject {
  const members = entry as unknown as JsonObject;
  return Object.fromEntries(fields.flatMap(({ name }) => (members[name] === undefined ? [] : [[name, members[name]]])));
}
