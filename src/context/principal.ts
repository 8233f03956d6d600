import type { JsonObject } from '../operators/index.ts';

/** Who asks. */
export interface Principal {
  /** User id; undefined for `anon`. */
  readonly id?: string | undefined;
  readonly role: string;
  /** Everything else conditions may read as `user.…`: the stored fields that are not secret, or a trusted token's claims. */
  readonly attributes: JsonObject;
}

/** Who asks without a token. */
export const ANON: Principal = Object.freeze({ role: 'anon', attributes: Object.freeze({}) });
