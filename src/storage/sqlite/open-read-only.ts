import BetterSqlite3 from 'better-sqlite3';

/**
 * Opens a file only to be read. It may be anybody's: what it has of views and triggers calls none of our functions, and a page
 * that lies about itself is not believed.
 */
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
