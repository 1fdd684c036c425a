// Names of a sequence. Each run has its own prefix, so that sequences share a server and never an object.

export type Names = {
  prefix: string;
  namespace: string;
};

export const sequenceLabel = "sequence";

/** "a" → the name of that object in this run. */
export function fullName({ prefix }: Names, name: string): string {
  return `${prefix}-${name}`;
}

export const generateBase = ({ prefix }: Names) => `${prefix}-g-`;
export const endMarker = "zz-end";
