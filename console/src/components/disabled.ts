/** Properties of a button that looks disabled but can be reached, so that its tooltip says why. Its click must do nothing. */
export const DISABLED = { 'data-disabled': true, 'aria-disabled': true } as const;
