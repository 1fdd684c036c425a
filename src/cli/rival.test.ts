import { expect, test } from "vitest";
import { ApiError } from "../api/status.ts";
import { formatMicroTime } from "../api/time.ts";
import type { KubeApi } from "../control/ports.ts";
import { rival } from "./rival.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

const refusal = (code: number, message: string) =>
  new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, message });

/** A cluster with these leases, by namespace. */
function cluster(leases: Record<string, { holderIdentity?: string; renewTime?: string }>): Pick<KubeApi, "get"> {
  const get = async (_: unknown, { namespace = "" }: { namespace?: string }) => {
    const spec = leases[namespace];
    if (spec === undefined) throw refusal(404, "no such lease");
    return { spec };
  };
  return { get: get as unknown as KubeApi["get"] };
}

const renewed = (agoMs: number) => ({ holderIdentity: "karpenter-0", renewTime: formatMicroTime(now - agoMs) });

test.each(["kube-system", "karpenter"])(
  "one that has renewed its lease in %s within a minute is alive",
  async place => {
    expect(await rival(cluster({ [place]: renewed(59_999) }), now)).toEqual({
      holder: "karpenter-0",
      namespace: place,
    });
  },
);

test.each([
  ["there is no lease", {}],
  ["it was renewed a minute ago", { karpenter: renewed(60_000) }],
  ["it was given back", { karpenter: { renewTime: formatMicroTime(now) } }],
  ["it says no time", { karpenter: { holderIdentity: "karpenter-0" } }],
])("nobody is alive if %s", async (_, leases) => {
  expect(await rival(cluster(leases), now)).toBeUndefined();
});

test("one that was dead in the one place may be alive in the other", async () => {
  const leases = { "kube-system": renewed(3_600_000), karpenter: renewed(1_000) };
  expect(await rival(cluster(leases), now)).toMatchObject({ namespace: "karpenter" });
});

test("a cluster that does not say is not taken for one without", async () => {
  const get = () => Promise.reject(refusal(403, "you may not"));
  await expect(rival({ get }, now)).rejects.toThrow("you may not");
});
