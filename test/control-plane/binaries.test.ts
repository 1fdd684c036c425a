import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cacheDir, cacheKey, whyUnavailable } from "./binaries.ts";

describe("the cache key", () => {
  const pins = { goMod: "module m", goSum: "a h1:x" };

  test("is the same for the same pins and platform", () => {
    expect(cacheKey(pins, "linux-x64")).toBe(cacheKey({ ...pins }, "linux-x64"));
  });

  test.each([
    ["go.mod", { ...pins, goMod: "module n" }, "linux-x64"],
    ["go.sum", { ...pins, goSum: "a h1:y" }, "linux-x64"],
    ["the platform", pins, "darwin-arm64"],
  ])("changes with %s", (_, changed, platform) => {
    expect(cacheKey(changed, platform)).not.toBe(cacheKey(pins, "linux-x64"));
  });

  test("lies under XDG_CACHE_HOME where that is set", () => {
    expect(cacheDir({ XDG_CACHE_HOME: "/cache" })).toMatch(/^\/cache\/fettle\/control-plane\/[0-9a-f]{16}$/);
    expect(cacheDir({ XDG_CACHE_HOME: "" })).toMatch(/\.cache\/fettle\/control-plane\/[0-9a-f]{16}$/);
  });
});

describe("what is available", () => {
  let assets: string;
  beforeAll(() => {
    assets = mkdtempSync(join(tmpdir(), "fettle-assets-"));
    for (const name of ["etcd", "kube-apiserver"]) {
      writeFileSync(join(assets, name), "#!/bin/sh\n");
      chmodSync(join(assets, name), 0o755);
    }
    writeFileSync(join(assets, "kubectl"), "not a program");
  });
  afterAll(() => rmSync(assets, { recursive: true }));

  const withGo = () => true;
  const withoutGo = () => false;

  test("everything, with Go", () => {
    expect(whyUnavailable(["etcd", "kube-scheduler"], {}, withGo)).toBeUndefined();
  });

  test("what the assets hold, without Go", () => {
    expect(whyUnavailable(["etcd", "kube-apiserver"], { KUBEBUILDER_ASSETS: assets }, withoutGo)).toBeUndefined();
  });

  test("not what the assets lack or cannot run; the sentence names it and says what to do", () => {
    const reason = whyUnavailable(["etcd", "kubectl"], { KUBEBUILDER_ASSETS: assets }, withoutGo);
    expect(reason).toMatch(/\(kubectl\): install Go .* or set KUBEBUILDER_ASSETS/);
  });

  test("nothing, with neither", () => {
    expect(whyUnavailable(["etcd"], {}, withoutGo)).toMatch(/\(etcd\)/);
  });
});
