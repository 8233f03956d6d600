/** Loading of the parts of the console that are not in its first files. */
import { checkPageVersion } from '../api/page-version.ts';

/** The service has not sent a part of the console: it does not answer, or it has been updated and has other parts. */
export class MissingPartError extends Error {
  constructor(cause: unknown) {
    // Other than the message of the browser, which makes the router reload the page.
    super('a part of the console could not be loaded', { cause });
  }
}

/** Loads a part of the console, and asks for the version of the service if that fails. @throws MissingPartError */
export async function loadPart<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await load();
  } catch (cause) {
    void checkPageVersion();
    throw new MissingPartError(cause);
  }
}
