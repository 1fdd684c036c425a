import { describe, expect, test } from "vitest";
import { checkManifest } from "../../api/check.ts";
import type { KindState, TemplateView } from "../../snapshot/check-views.ts";
import { decideDefaultCheck } from "./default-check.ts";
import { aCheck, aCheckContext, aTemplate, commandsOf, resourceOf } from "../../../test/check-builders.ts";

const snr = { apiVersion: "self-node-remediation.medik8s.io/v1alpha1", kind: "SelfNodeRemediationTemplate" };
const poisonPill = { apiVersion: "poison-pill.medik8s.io/v1alpha1", kind: "PoisonPillRemediationTemplate" };

type Start = {
  readonly checks?: readonly ReturnType<typeof aCheck>[];
  readonly hadDefault?: boolean | undefined;
  readonly kinds?: KindState;
  readonly templates?: readonly TemplateView[];
  readonly isWanted?: boolean;
};

function started(start: Start = {}) {
  const context = aCheckContext({ checks: start.checks ?? [], templates: start.templates ?? [] });
  for (const kind of [snr, poisonPill]) context.checks.setKind(kind, start.kinds ?? { state: "NotFound" });
  const { hadDefault = "hadDefault" in start ? undefined : false } = start;
  if (hadDefault !== undefined) context.checks.setHadDefault(hadDefault);
  return decideDefaultCheck(context, start.isWanted ?? true);
}

describe("on a start without any health check", () => {
  test("one for workers is made, with all defaults and our own Replace", () => {
    const [command] = commandsOf(started(), "create-default-check");
    expect(command?.check).toEqual({
      apiVersion: "remediation.medik8s.io/v1alpha1",
      kind: "NodeHealthCheck",
      metadata: { name: "nhc-worker-default" },
      spec: {
        selector: { matchExpressions: [{ key: "node-role.kubernetes.io/worker", operator: "Exists" }] },
        remediationTemplate: {
          apiVersion: "fettle.dev/v1alpha1",
          kind: "ReplaceRemediationTemplate",
          name: "nhc-worker-default",
        },
      },
    });
    for (const manifest of [command?.check, command?.template]) expect(checkManifest(manifest).findings).toEqual([]);
  });

  const served = { state: "Served", resource: resourceOf("X") } as const;

  test.each([
    { kind: snr, name: "self-node-remediation-automatic-strategy-template", isDefault: false },
    { kind: snr, name: "renamed", isDefault: true },
    { kind: poisonPill, name: "poison-pill-default-template", isDefault: false },
  ])("$kind.kind $name is used where it is there", ({ kind, name, isDefault }) => {
    const templates = [aTemplate(name, { ...kind, namespace: "operators", isDefault })];
    const [command] = commandsOf(started({ kinds: served, templates }), "create-default-check");
    expect(command?.check["spec"]).toMatchObject({ remediationTemplate: { ...kind, name, namespace: "operators" } });
    expect(command?.template).toBeUndefined();
  });

  test("a template of theirs that is no default is not used", () => {
    const templates = [aTemplate("special", { ...snr, namespace: "operators" })];
    const [command] = commandsOf(started({ kinds: served, templates }), "create-default-check");
    expect(command?.template).toBeDefined();
  });

  test("nothing is made before their kinds are listed, or where none is wanted", () => {
    expect(started({ kinds: { state: "Listing" } }).commands).toEqual([]);
    expect(started({ isWanted: false }).commands).toEqual([]);
  });
});

describe("it is made once", () => {
  test("where there is a check, that is noted and none is made", () => {
    expect(started({ checks: [aCheck("web")] }).commands.map(({ kind }) => kind)).toEqual(["note-default-check"]);
  });

  test("one that a person deleted is not made again", () => {
    expect(started({ hadDefault: true }).commands).toEqual([]);
  });

  test("nothing is made while nobody knows, or while the checks are not listed", () => {
    expect(started({ hadDefault: undefined }).commands).toEqual([]);
  });
});
