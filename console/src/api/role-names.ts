/** The role of requests without a token. */
export const WITHOUT_TOKEN = 'anon';
