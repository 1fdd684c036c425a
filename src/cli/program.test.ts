import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Command, Option } from "commander";
import { describe, expect, test } from "vitest";
import { commandsPage } from "./commands-page.ts";
import { readEnvironment, variableOf } from "./environment.ts";
import type { Io } from "./io.ts";
import { helpTexts, program, run } from "./program.ts";

const root = join(import.meta.dirname, "../..");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

async function typed(args: readonly string[], env: Io["env"] = {}) {
  const printed = { out: "", err: "" };
  const io = {
    out: (text: string) => void (printed.out += text),
    err: (text: string) => void (printed.err += text),
    colour: false,
    env,
    signal: new AbortController().signal,
  };
  return { code: await run(args, io as unknown as Io, version), ...printed };
}

const commands = () => program({ env: {} } as unknown as Io, version).commands;
const flags = commands().flatMap(command => command.options.map(option => ({ command: command.name(), option })));
const named = flags.map(({ command, option }) => [command, option.long ?? "", option] as const);

describe("help", () => {
  test("docs/commands.md is what --help prints: npm run generate writes it", () => {
    expect(commandsPage(version)).toBe(readFileSync(join(root, "docs/commands.md"), "utf8"));
  });

  test.each([...helpTexts(version)])(
    "of %j names every command or flag, with an example, and fits a page",
    (name, text) => {
      const lines = text.split("\n");
      expect(lines.filter(line => line.length > 120)).toEqual([]);
      expect(text).toContain("Each flag has a twin in the environment");
      if (name !== "") expect(text).toContain(`  fettle ${name}`);
    },
  );

  test.each(named)("%s %s says what it does", (command, long, { description }) => {
    expect(description).not.toBe("");
    expect(helpTexts(version).get(command)).toContain(long);
  });

  test("is what no command at all prints, with exit code 2", async () => {
    const { code, err } = await typed([]);
    expect(code).toBe(2);
    expect(err).toContain("Usage: fettle");
  });
});

/** Texts of which one at least means something to each flag, and is not its default. */
const words =
  "true false 7 90s simulated json yaml text debug off repair proceed -lifecycle node-problem-detector 127.0.0.1:9090 web/fettle:1 other".split(
    " ",
  );

const parsedBy = (option: Option, text: string): unknown => {
  if (option.isBoolean()) return text === "true";
  return option.parseArg === undefined ? text : option.parseArg<unknown>(text, undefined);
};

/** A text that the flag takes, and that changes something. */
function wordFor(option: Option): string {
  const isTaken = (word: string) => {
    try {
      return !isDeepStrictEqual(parsedBy(option, word), option.defaultValue);
    } catch {
      return false;
    }
  };
  return words.find(isTaken) ?? "";
}

describe("the environment", () => {
  test.each(named)("%s %s has a twin", (name, _, option) => {
    const command = commands().find(each => each.name() === name) as Command;
    const word = wordFor(option);
    expect(word).not.toBe("");
    readEnvironment(command, { [variableOf(option)]: word });
    expect(command.getOptionValueSource(option.attributeName())).toBe("env");
    expect(command.getOptionValue(option.attributeName())).toEqual(parsedBy(option, word));
  });

  test("is read by every command, and what was typed wins", async () => {
    const env = { FETTLE_OUTPUT: "json" };
    expect((await typed(["crds", "nodepools"], env)).out).toMatch(/^\{/);
    expect((await typed(["crds", "nodepools", "-o", "yaml"], env)).out).toMatch(/^apiVersion/);
  });

  test("a variable that no flag knows is named, with what may have been meant; the command goes on", async () => {
    const { code, out, err } = await typed(["crds", "nodepools"], {
      FETTLE_OUTPUTT: "json",
      FETTLE_EMPTY: "",
      PATH: "/",
    });
    expect(code).toBe(0);
    expect(out).toMatch(/^apiVersion/);
    expect(err).toBe("fettle: FETTLE_OUTPUTT is set, but no flag has that twin; did you mean FETTLE_OUTPUT?\n");
  });
});

test.each([
  [["up", "--speed", "0"], "fettle: --speed=0: it must be from 1 to 120.\n"],
  [
    ["run", "--controllers", "*,-repare"],
    'fettle: --controllers=*,-repare: there is no controller "repare", did you mean repair?',
  ],
  [["simulate", "-o", "xml", "a.yaml"], "fettle: --output=xml: it must be text or json.\n"],
  [["run", "--contrllers", "x"], "fettle: unknown option '--contrllers'\n(Did you mean --controllers?)\n"],
  [["nope"], "fettle: unknown command 'nope'\n"],
])("%j: one sentence, in our own form, exit 2", async (args, sentence) => {
  const { code, out, err } = await typed(args);
  expect(code).toBe(2);
  expect(out).toBe("");
  expect(err.startsWith(sentence)).toBe(true);
});

test.each([["up"], ["cluster"], ["machines", "--kubeconfig", "absent"], ["run", "--kubeconfig", "absent"]])(
  "%s listens to Ctrl-C before it does anything, and leaves nothing when that comes at once",
  async (...args) => {
    const said: string[] = [];
    let isListening = false;
    const io = {
      out: (text: string) => void said.push(isListening ? text : `too early: ${text}`),
      err: (text: string) => void said.push(isListening ? text : `too early: ${text}`),
      colour: false,
      env: {},
      get signal() {
        isListening = true;
        return AbortSignal.abort();
      },
    };
    await run(args, io as unknown as Io, version);
    expect(isListening).toBe(true);
    expect(said.filter(text => text.startsWith("too early"))).toEqual([]);
    const path = /^Its kubeconfig: (.*)$/m.exec(said.join(""))?.[1];
    if (path !== undefined) expect(existsSync(dirname(path))).toBe(false);
  },
);
