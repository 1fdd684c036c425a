// Bugs in how a machine is rebooted.

import type { Command } from "../../../src/decide/decision.ts";
import { type Change, deciding, withProvider } from "./change.ts";
import type { Mutant } from "./mutant.ts";

const isUncordon = (command: Command) => command.kind === "update-node" && command.change.isCordoned === false;
const withoutUncordon = (rule: string) =>
  deciding(rule, decision => ({ ...decision, commands: decision.commands.filter(command => !isUncordon(command)) }));

/** Neither at the end of a reboot nor after it. */
const cordonStays: Change = options => withoutUncordon("uncordon")(withoutUncordon("reboot")(options));

/** Every call asks for a reboot of its own. */
const anewEachTime: Change = options => {
  let calls = 0;
  return withProvider(provider => ({
    reboot: (providerID, token, call) =>
      provider.reboot(providerID, `${token}-${options.clock.now()}-${calls++}`, call),
  }))(options);
};

/** The node is left as schedulable as it was. */
const withoutCordon = deciding("reboot", decision => ({
  ...decision,
  commands: decision.commands.map(command =>
    command.kind === "update-node" && command.change.isCordoned ? { ...command, change: withoutIt(command) } : command,
  ),
}));

function withoutIt({ change }: Extract<Command, { kind: "update-node" }>) {
  const { isCordoned: _, ...rest } = change;
  return rest;
}

export const rebootMutants: readonly Mutant[] = [
  { name: "a cordon is never lifted", wrong: cordonStays, story: "reboot-heals", caughtBy: "expected" },
  { name: "a node is rebooted in service", wrong: withoutCordon, story: "reboot-heals", caughtBy: "expected" },
  {
    name: "a reboot is asked for anew after a restart",
    wrong: anewEachTime,
    story: "reboot-fails-restarted",
    caughtBy: "expected",
  },
  {
    name: "a reboot that does not heal is waited for without end",
    wrong: deciding("reboot", decision => ({ ...decision, wakeAt: undefined })),
    story: "reboot-does-not-heal",
    caughtBy: "incremental",
  },
];
