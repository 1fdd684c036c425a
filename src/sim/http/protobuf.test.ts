import { describe, expect, test } from "vitest";
import { decodeProtobuf } from "./protobuf.ts";

// What kubectl 1.36.3 sent for the command named beside it; test/control-plane/protobuf.test.ts compares every kind
// with the JSON of a real server.
const sent = {
  "create namespace pb": "azhzAAoPCgJ2MRIJTmFtZXNwYWNlEhoKEgoCcGISABoAIgAqADIAOABCABIAGgIKABoAIgA=",
  "create pdb web --selector=app=web --min-available=50%":
    "azhzAAogCglwb2xpY3kvdjESE1BvZERpc3J1cHRpb25CdWRnZXQSPAoTCgN3ZWISABoAIgAqADIAOABCABIZCgkIARAAGgM1MCUSDAoKCgNhcHASA3dlYhoKCAAYACAAKAAwABoAIgA=",
  "create deployment web --image=app:1 --replicas=3 --port=80":
    "azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50ErYBCh8KA3dlYhIAGgAiACoAMgA4AEIAWgoKA2FwcBIDd2ViEoQBCAMSDAoKCgNhcHASA3dlYhpqChwKABIAGgAiACoAMgA4AEIAWgoKA2FwcBIDd2ViEkoSLAoDYXBwEgVhcHA6MSoAMgoKABAAGFAiACoAQgBqAHIAgAEAiAEAkAEAogEAGgAyAEIASgBSAFgAYABoAIIBAIoBAJoBAMIBACICCgAoADgAGgwIABAAGAAgACgAOAAaACIA",
  "create secret generic t --from-literal=k=v":
    "azhzAAoMCgJ2MRIGU2VjcmV0Eh0KEQoBdBIAGgAiACoAMgA4AEIAEgYKAWsSAXYaABoAIgA=",
  "create priorityclass high --value=-7 --description=x":
    "azhzAAolChRzY2hlZHVsaW5nLms4cy5pby92MRINUHJpb3JpdHlDbGFzcxI8ChQKBGhpZ2gSABoAIgAqADIAOABCABD5//////////8BGAAiAXgqFFByZWVtcHRMb3dlclByaW9yaXR5GgAiAA==",
};
const decoded = (command: keyof typeof sent) => decodeProtobuf(Buffer.from(sent[command], "base64"));

describe("what kubectl's generators send", () => {
  test("a namespace, with the empty values that Go writes out", () => {
    expect(decoded("create namespace pb")).toEqual({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: {
        name: "pb",
        generateName: "",
        namespace: "",
        selfLink: "",
        uid: "",
        resourceVersion: "",
        generation: 0,
        creationTimestamp: null,
      },
      spec: {},
      status: { phase: "" },
    });
  });

  test("counts that may be percentages, and maps", () => {
    expect(decoded("create pdb web --selector=app=web --min-available=50%")).toMatchObject({
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      spec: { minAvailable: "50%", selector: { matchLabels: { app: "web" } } },
    });
  });

  test("lists of messages in messages", () => {
    expect(decoded("create deployment web --image=app:1 --replicas=3 --port=80")).toMatchObject({
      spec: {
        replicas: 3,
        template: { spec: { containers: [{ name: "app", image: "app:1", ports: [{ containerPort: 80 }] }] } },
      },
    });
  });

  test("bytes as base64, negative numbers", () => {
    expect(decoded("create secret generic t --from-literal=k=v")).toMatchObject({ data: { k: "dg==" } });
    expect(decoded("create priorityclass high --value=-7 --description=x")).toMatchObject({
      value: -7,
      description: "x",
    });
  });
});

describe("what cannot be read is said", () => {
  const namespace = Buffer.from(sent["create namespace pb"], "base64");

  test("no envelope", () => {
    expect(() => decodeProtobuf(Buffer.from("{}"))).toThrow("expected prefix [107 56 115 0]");
  });

  test("a message that ends too early", () => {
    expect(() => decodeProtobuf(namespace.subarray(0, namespace.length - 10))).toThrow("is cut off");
  });

  test("a kind that has no message here", () => {
    const other = Buffer.from(namespace.toString("latin1").replace("Namespace", "Namespice"), "latin1");
    expect(() => decodeProtobuf(other)).toThrow("v1 Namespice cannot be read from protobuf: send JSON");
  });
});
