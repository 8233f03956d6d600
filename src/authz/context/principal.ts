import type { JsonObject } from '../../operators/index.ts';

/** The caller. */
export interface Principal {
  /** User id: `<issuer>|<subject>` for an identity of a trusted issuer, undefined for `anon`. */
  readonly id?: string | undefined;
  readonly role: string;
  /** Everything else conditions may read as `user.…`: the stored fields that are not secret, or a trusted token's claims. */
  readonly attributes: JsonObject;
}

/** Texts that `user.…` has in addition to the fields of User. `issuer` and `subject` are missing for local users. */
export const IDENTITY_NAMES: readonly string[] = Object.freeze(['id', 'role', 'issuer', 'subject']);

/** The caller of a request without a token. */
export const ANON: Principal = Object.freeze({ role: 'anon', attributes: Object.freeze({}) });
