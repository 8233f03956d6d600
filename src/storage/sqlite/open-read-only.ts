// A file of its own: types of the library refer to write-backup.ts, and the published declarations must not import the driver.
import BetterSqlite3 from 'better-sqlite3';

/** Opens a file for reading. The file is not trusted: its views and triggers cannot call our functions, and pages are checked. */
export function openReadOnly(path: string): BetterSqlite3.Database {
  const driver = new BetterSqlite3(path, { readonly: true, fileMustExist: true, timeout: 5000 });
  try {
    for (const pragma of ['trusted_schema = OFF', 'cell_size_check = ON']) driver.pragma(pragma);
    return driver;
  } catch (error) {
    driver.close();
    throw error;
  }
}
