/** Seconds that the clocks of several processes may differ: in the times of tokens, in what logins count, and from the clock of the database. */
export const CLOCK_LEEWAY_SECONDS = 30;
