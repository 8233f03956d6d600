/** Limits of a request; the config options of the same names. */
export interface RequestLimits {
  readonly pageMax: number;
  readonly exportMax: number;
  readonly whereItems: number;
  readonly filterListItems: number;
  readonly sortKeys: number;
  readonly batchItems: number;
  readonly importRows: number;
  /** Bytes of a body from a caller without a token. */
  readonly anonymousBodyBytes: number;
}
