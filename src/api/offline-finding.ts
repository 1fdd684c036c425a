// One thing that only we can know about an object.

export type OfflineFinding = {
  /** An error fails closed at run time; a warning says that a legal object may not mean what was meant. */
  severity: "error" | "warning";
  /** The server's spelling of the field; empty for the object as a whole. */
  path: string;
  /** As a fact, for machines: the reason of a condition is made of it. */
  code: string;
  message: string;
};

export const error = (path: string, code: string, message: string): OfflineFinding => ({
  severity: "error",
  path,
  code,
  message,
});

export const warning = (path: string, code: string, message: string): OfflineFinding => ({
  ...error(path, code, message),
  severity: "warning",
});
