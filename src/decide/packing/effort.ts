// Effort in place of time: what was done so far, in units of about a microsecond. Slices end by it, so that the same
// question takes the same slices everywhere.

export type Effort = { work: number };
