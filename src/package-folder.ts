import { findPackageJSON } from 'node:module';
import { pathToFileURL } from 'node:url';

/** The address of the folder of this package. The sources, a program that is built from them, and the published package are at different depths below it. */
export const PACKAGE_FOLDER: URL = new URL('./', pathToFileURL(findPackageJSON('..', import.meta.url) as string));
