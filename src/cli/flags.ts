// The values of flags, read from their text. What makes no sense is refused with what would.

import { InvalidArgumentError, Option } from "commander";
import { labelValueErrors } from "../api/name.ts";
import { nearest } from "../api/nearest.ts";
import { type Millis, parseDuration } from "../api/time.ts";
import { type ControllerName, controllers } from "../decide/decision.ts";

/** A flag whose default is read from its text as what a person types would be, and shown so in the help. */
export function flag(
  flags: string,
  description: string,
  { read, or }: { read: (text: string) => unknown; or: string },
): Option {
  return new Option(flags, description).argParser(read).default(read(or), or);
}

/** As in kube-controller-manager: `*` is all, a name is that one, `-name` is not that one, and names win over `*`. */
export function controllersOf(text: string): ReadonlySet<ControllerName> {
  const items = text.split(",").map(item => item.trim());
  for (const item of items) assertKnown(item);
  const isOn = (name: ControllerName) => {
    const named = items.find(item => item === name || item === `-${name}`);
    return named === undefined ? items.includes("*") : named === name;
  };
  return new Set(controllers.filter(isOn));
}

function assertKnown(item: string): void {
  const name = item.replace(/^-/, "");
  if (item === "*" || (controllers as readonly string[]).includes(name)) return;
  const meant = nearest(name, controllers);
  const hint = meant === undefined ? "" : `, did you mean ${meant}?`;
  throw new InvalidArgumentError(`there is no controller "${name}"${hint}; there are ${controllers.join(", ")}.`);
}

/** `--flag`, `--flag=true` and `--flag=false`. */
export function booleanOf(text: string): boolean {
  if (text === "true") return true;
  if (text === "false") return false;
  throw new InvalidArgumentError("it must be true or false.");
}

export function durationOf(text: string): Millis {
  const parsed = parseDuration(text);
  if (parsed.ok && parsed.value > 0) return parsed.value;
  throw new InvalidArgumentError(parsed.ok ? "it must be longer than nothing." : `${parsed.error}.`);
}

export type BindAddress = { host?: string; port: number };

/** `:8080` is every address of this host; `0` serves nothing. */
export function bindAddressOf(text: string): BindAddress | undefined {
  if (text === "0") return undefined;
  const [, host = "", digits = ""] = /^(.*):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65_535)
    throw new InvalidArgumentError("it must read :8080, 127.0.0.1:8080, or 0 for none.");
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  return bare === "" ? { port } : { host: bare, port };
}

export function choiceOf<T extends string>(...choices: readonly T[]): (text: string) => T {
  return text => {
    const found = choices.find(choice => choice === text);
    if (found === undefined)
      throw new InvalidArgumentError(`it must be ${choices.join(", ").replace(/, ([^,]*)$/, " or $1")}.`);
    return found;
  };
}

/** Several of them, with commas between; `none` is none of them. */
export function someOf<T extends string>(...choices: readonly T[]): (text: string) => readonly T[] {
  const read = choiceOf<T | "none">("none", ...choices);
  return text =>
    text
      .split(",")
      .map(item => read(item.trim()))
      .filter((one): one is T => one !== "none");
}

/** What the provider keeps as a label of each instance. Without one nothing would be known as ours. */
export function labelOf(text: string): string {
  if (text !== "" && labelValueErrors(text).length === 0) return text;
  throw new InvalidArgumentError("it must be up to 63 letters, digits, '-', '_' and '.', the first and last no sign.");
}

export function seedOf(text: string): number {
  const seed = Number(text);
  if (!/^\d+$/.test(text) || seed >= 2 ** 32)
    throw new InvalidArgumentError("it must be a number from 0 to 4294967295.");
  return seed;
}
