// The command line as a whole: which commands there are, and how errors and exit codes reach the shell.

import { Command, CommanderError } from "commander";
import { clusterCommand } from "./cluster.ts";
import { crdsCommand } from "./crds.ts";
import { environmentHelp, readEnvironment, unknownVariables } from "./environment.ts";
import { installCommand } from "./install.ts";
import { type ExitCode, Failure, type Io } from "./io.ts";
import { machinesCommand } from "./machines.ts";
import { runCommand } from "./run.ts";
import { simulateCommand } from "./simulate.ts";
import { upCommand } from "./up.ts";
import { validateCommand } from "./validate.ts";

export async function run(args: readonly string[], io: Io, version: string): Promise<ExitCode> {
  try {
    await program(io, version).parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    return explain(error, io);
  }
}

const helpWidth = 100;

export function program(io: Io, version: string): Command {
  const fettle = new Command("fettle")
    .description("Keeps the nodes of a Kubernetes cluster healthy and decides, in the open, when a node may go.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help for a command")
    .showHelpAfterError("(add --help for what is possible)");
  const commands = [
    upCommand(io),
    runCommand(io, version),
    installCommand(io, version),
    crdsCommand(io),
    validateCommand(io),
    clusterCommand(io),
    machinesCommand(io),
    simulateCommand(io),
  ];
  for (const command of commands) fettle.addCommand(command);
  fettle.addHelpText("afterAll", `\n${environmentHelp}`).hook("preAction", (_, command) => {
    for (const warning of unknownVariables(commands, io.env)) io.err(`fettle: ${warning}\n`);
    readEnvironment(command, io.env);
  });
  settle(fettle, io);
  return fettle;
}

/** By the name of each command, and of the program itself under an empty name. */
export function helpTexts(version: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  let printed = "";
  const io = { out: (text: string) => void (printed += text), env: {} } as unknown as Io;
  const fettle = program(io, version);
  for (const command of [fettle, ...fettle.commands]) {
    printed = "";
    command.outputHelp();
    texts.set(command === fettle ? "" : command.name(), printed);
  }
  return texts;
}

// Commander would write to the process and end it; here every command answers through Io and an exit code.
function settle(command: Command, io: Io): void {
  command.exitOverride().configureOutput({
    writeOut: text => io.out(text),
    writeErr: text => io.err(text),
    outputError: (text, write) => write(asOurs(text)),
    // The same everywhere, also where nobody can tell how wide the terminal is.
    getOutHelpWidth: () => helpWidth,
    getErrHelpWidth: () => helpWidth,
  });
  for (const child of command.commands) settle(child, io);
}

/** In the form of our own errors, and of those about the environment: FETTLE_SPEED=0 and --speed=0 are told alike. */
function asOurs(text: string): string {
  return text
    .replace(/^error: option '(?:-\w, )?(--[\w-]+)[^']*' argument '([^]*)' is invalid\. /, "fettle: $1=$2: ")
    .replace(/^error: /, "fettle: ");
}

function explain(error: unknown, io: Io): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Failure) {
    if (error.message !== "") io.err(`fettle: ${error.message}\n`);
    return error.exitCode;
  }
  const told = (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
  io.err(`fettle: ${told}. This is a mistake of ours: please report it with what you typed.\n`);
  return 1;
}
