import { describe, expect, test } from "vitest";
import { accepted, acceptsAggregatedDiscovery } from "./accept.ts";

const table = { as: "Table", version: "v1" };
const kubectlGet =
  "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";

test.each([
  [undefined, "json", "object"],
  ["", "json", "object"],
  ["*/*", "json", "object"],
  ["application/*", "json", "object"],
  ["application/json", "json", "object"],
  ["application/json, */*", "json", "object"],
  ["application/yaml", "yaml", "object"],
  ["application/vnd.kubernetes.protobuf,application/json", "json", "object"],
  ["application/json;stream=watch", "json", "object"],
  ["application/json;q=0.5, application/yaml", "yaml", "object"],
  ["application/json;q=0, application/yaml", "yaml", "object"],
  [kubectlGet, "json", table],
  ["application/json;as=Nonsense;v=v1;g=meta.k8s.io, application/json", "json", "object"],
  [
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    "json",
    { as: "PartialObjectMetadataList", version: "v1" },
  ],
  ["application/json;as=Table;g=meta.k8s.io;v=v1beta1", "json", { as: "Table", version: "v1beta1" }],
])("Accept: %s is answered in %s", (header, format, shape) => {
  expect(accepted(header)).toMatchObject({ format, shape });
});

test("pretty is a parameter of the media type, too", () => {
  expect(accepted("application/json;pretty=1").pretty).toBe(true);
  expect(accepted("application/json").pretty).toBe(false);
});

describe("406 where nothing fits", () => {
  test.each([
    "text/html",
    "application/vnd.kubernetes.protobuf",
    "application/json;as=Nonsense;v=v1;g=meta.k8s.io",
    "application/json;as=Table;v=v2;g=meta.k8s.io",
    "application/json;as=Table;v=v1;g=example.dev",
  ])("%s", header => {
    expect(() => accepted(header)).toThrow("only the following media types are accepted");
  });
});

test.each([
  ["application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json", "v2"],
  ["application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", "v2beta1"],
  [
    "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json",
    undefined,
  ],
  ["application/json", undefined],
])("%s asks for aggregated discovery %s", (header, version) => {
  expect(acceptsAggregatedDiscovery(header)).toBe(version);
});
