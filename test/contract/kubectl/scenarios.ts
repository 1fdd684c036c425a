// What a person does with kubectl, verb by verb. Each scenario has a namespace and cluster-wide names of its own, so
// that scenarios neither see nor disturb each other.

import { deployment, namespace, node, nodePool, pod } from "./manifests.ts";
import type { Call } from "./run.ts";

export type Step = Call & {
  /** Only the output lines that match are compared: the real server has much that the box leaves out. */
  only?: RegExp;
  /** What is printed depends on chance: which of two pods, how many tries. */
  onlyCode?: boolean;
  /** kubectl itself does several things at once: its lines come in any order. */
  isUnordered?: boolean;
  /** Steps to run while this one, a watch, goes on. */
  during?: readonly Step[];
};

export type Scenario = { verb: string; steps: readonly Step[] };

const yaml = (text: string): Step => ({ args: ["apply", "-f", "-"], input: text });
const kubectl = (command: string, more: Omit<Step, "args"> = {}): Step => ({ args: words(command), ...more });

/** As a shell would: split at spaces, but not inside single quotes. */
function words(command: string): string[] {
  return [...command.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replaceAll("'", ""));
}

export const scenarios: readonly Scenario[] = [
  {
    verb: "apply",
    steps: [
      yaml(
        namespace("apply") +
          nodePool("apply") +
          deployment("apply").replace("name: apply}", "name: apply, namespace: apply}"),
      ),
      yaml(nodePool("apply")),
      yaml(nodePool("apply").replace("weight: 10", "weight: 20")),
      kubectl("get nodepool apply -o jsonpath='{.spec.weight} {.metadata.generation}'"),
      yaml(deployment("apply").replace("name: apply}", "name: apply, namespace: apply}").replace("app:1", "app:2")),
      kubectl("get deployment apply -n apply -o jsonpath='{.spec.template.spec.containers[*].image}'"),
      yaml(nodePool("apply-bad").replace("30s", "soon")),
      yaml(nodePool("apply-bad").replace("weight", "weigth")),
      yaml(nodePool("apply-bad").replace("20%", "150%")),
      { args: ["apply", "--dry-run=server", "-f", "-"], input: nodePool("apply-dry") },
      { args: ["apply", "--dry-run=client", "-f", "-"], input: nodePool("apply-dry") },
      kubectl("get nodepool apply-dry"),
      { args: ["diff", "-f", "-"], input: nodePool("apply").replace("weight: 10", "weight: 20") },
      yaml("apiVersion: nowhere.dev/v1\nkind: Thing\nmetadata: {name: a}\n"),
      yaml(pod("apply-nowhere").replace("metadata: {", "metadata: {namespace: apply-nowhere, ")),
      kubectl("apply view-last-applied nodepool apply"),
    ],
  },
  {
    verb: "create and replace",
    steps: [
      kubectl("create namespace create"),
      kubectl("create namespace create"),
      kubectl("create configmap settings -n create --from-literal=a=1 --from-literal=b=2"),
      kubectl("create secret generic token -n create --from-literal=t=secret"),
      kubectl("create serviceaccount robot -n create"),
      kubectl("create deployment web -n create --image=registry.example/web:1 --replicas=3"),
      kubectl("create job once -n create --image=registry.example/job:1 -- run"),
      kubectl("create poddisruptionbudget web -n create --selector=app=web --min-available=1"),
      kubectl("create priorityclass create-high --value=1000 --description=high"),
      { args: ["create", "-f", "-"], input: nodePool("create") },
      { args: ["create", "-f", "-"], input: nodePool("create") },
      { args: ["create", "-f", "-", "--validate=false"], input: nodePool("create-loose").replace("weight", "weigth") },
      { args: ["create", "-f", "-", "--validate=warn"], input: nodePool("create-warned").replace("weight", "weigth") },
      { args: ["replace", "-f", "-"], input: nodePool("create").replace("weight: 10", "weight: 30") },
      { args: ["replace", "-f", "-"], input: nodePool("create-absent") },
      { args: ["replace", "--force", "-f", "-"], input: nodePool("create").replace("weight: 10", "weight: 40") },
      kubectl("get nodepool create -o jsonpath='{.spec.weight}'"),
      kubectl("get all,cm,secret,sa,pdb -n create"),
      kubectl("run one -n create --image=registry.example/one:1 --restart=Never"),
      { args: ["create", "-f", "-"], input: "not: [yaml" },
      { args: ["create", "-f", "-"], input: "" },
    ],
  },
  {
    verb: "get",
    steps: [
      yaml(namespace("get") + node("get-a") + node("get-b") + nodePool("get")),
      { args: ["apply", "-n", "get", "-f", "-"], input: pod("one", "nodeName: get-a") + pod("two") },
      kubectl("get nodes -l suite=kubectl --field-selector=metadata.name=get-a"),
      kubectl("get nodes get-a get-b -o wide"),
      kubectl("get node get-a -o wide --show-labels"),
      kubectl("get node get-a -o name"),
      kubectl("get node get-a -o json"),
      kubectl("get node get-a -o yaml"),
      kubectl("get node get-a -o jsonpath='{.status.conditions[?(@.type==\"Ready\")].status}'"),
      kubectl(
        "get nodes get-a get-b -o custom-columns=NAME:.metadata.name,CPU:.status.capacity.cpu,NONE:.spec.nothing",
      ),
      kubectl("get nodes get-b get-a --sort-by=.metadata.name --no-headers"),
      kubectl("get nodes get-a get-absent"),
      kubectl("get nodes get-absent --ignore-not-found"),
      kubectl("get pods -n get -o wide"),
      kubectl("get pods -n get --field-selector=spec.nodeName=get-a"),
      kubectl("get pods -n get -l app=two -L app"),
      kubectl("get pods -n get -l 'app in (one,three)' -o name"),
      kubectl("get pods -n get --chunk-size=1"),
      kubectl("get pods -n get-nowhere"),
      kubectl("get pod/one node/get-a nodepool/get -n get"),
      kubectl("get nodepools.v1beta1.karpenter.sh get -o jsonpath='{.apiVersion}'"),
      kubectl("get np get -o wide"),
      kubectl("get nodepool get -o yaml"),
      kubectl("get things"),
      kubectl("get pods -n get --field-selector=spec.nonsense=1"),
      kubectl("get pods -n get -l 'a=b=c'"),
      kubectl("get --raw /apis/karpenter.sh/v1/nodepools/get-absent"),
      kubectl("get --raw /readyz"),
      kubectl("get node get-a --subresource=status -o jsonpath='{.status.nodeInfo.kubeletVersion}'"),
      kubectl("get node get-a -w -o wide", {
        lines: 3,
        during: [kubectl("cordon get-a")],
      }),
      kubectl("get nodepools -l suite=kubectl --field-selector=metadata.name=get -w --output-watch-events", {
        lines: 4,
        during: [kubectl("label nodepool get colour=blue"), kubectl("delete nodepool get --wait=false")],
      }),
    ],
  },
  {
    verb: "describe",
    steps: [
      yaml(namespace("describe") + node("describe-a") + nodePool("describe")),
      { args: ["apply", "-n", "describe", "-f", "-"], input: pod("one", "nodeName: describe-a") + deployment("web") },
      {
        args: ["create", "-n", "describe", "-f", "-"],
        input: `
apiVersion: v1
kind: Event
metadata: {name: one.1}
involvedObject: {apiVersion: v1, kind: Pod, name: one, namespace: describe}
reason: Scheduled
message: assigned to describe-a
type: Normal
source: {component: scheduler}
firstTimestamp: "2026-01-02T03:04:05Z"
lastTimestamp: "2026-01-02T03:04:05Z"
count: 1
`,
      },
      kubectl("describe node describe-a"),
      kubectl("describe pod one -n describe"),
      kubectl("describe deployment web -n describe"),
      kubectl("describe nodepool describe"),
      kubectl("describe namespace describe"),
      kubectl("describe node describe-absent"),
      kubectl("events -n describe"),
      kubectl("events -n describe --for pod/one"),
      kubectl("get events -n describe"),
    ],
  },
  {
    verb: "edit",
    steps: [
      yaml(nodePool("edit")),
      kubectl("edit nodepool edit", { editor: "s/weight: 10/weight: 11/" }),
      kubectl("get nodepool edit -o jsonpath='{.spec.weight}'"),
      kubectl("edit nodepool edit", { editor: "s/nothing/nothing/" }),
      kubectl("edit nodepool edit", { editor: "s/weight: 11/weight: 0/" }),
      kubectl("edit nodepool edit --subresource=status", { editor: "s/nothing/nothing/" }),
    ],
  },
  {
    verb: "patch",
    steps: [
      yaml(namespace("patch") + nodePool("patch")),
      { args: ["apply", "-n", "patch", "-f", "-"], input: deployment("web") },
      kubectl(`patch nodepool patch --type=merge -p '{"spec":{"weight":12}}'`),
      kubectl(`patch nodepool patch --type=merge -p '{"spec":{"weight":12}}'`),
      kubectl(`patch nodepool patch --type=json -p '[{"op":"replace","path":"/spec/weight","value":13}]'`),
      kubectl(`patch nodepool patch --type=json -p '[{"op":"test","path":"/spec/weight","value":99}]'`),
      kubectl(`patch nodepool patch --type=json -p '[{"op":"remove","path":"/spec/nothing"}]'`),
      kubectl(`patch nodepool patch --type=strategic -p '{"spec":{"weight":14}}'`),
      kubectl(`patch nodepool patch --type=merge -p '{"spec":{"weight":-1}}'`),
      kubectl(`patch nodepool patch --type=merge -p '{"spec":{"weigth":1}}'`),
      kubectl(`patch nodepool patch --type=merge -p '{"spec":'`),
      kubectl(`patch nodepool patch-absent --type=merge -p '{"spec":{}}'`),
      kubectl(`patch nodepool patch --subresource=status --type=merge -p '{"status":{"resources":{"cpu":"4"}}}'`),
      kubectl("get nodepool patch -o jsonpath='{.spec.weight} {.metadata.generation} {.status.resources.cpu}'"),
      kubectl(
        `patch deployment web -n patch -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:1"}]}}}}'`,
      ),
      kubectl("get deployment web -n patch -o jsonpath='{.spec.template.spec.containers[*].name}'"),
      kubectl("set image deployment/web -n patch main=registry.example/app:3"),
      kubectl("get deployment web -n patch -o jsonpath='{.spec.template.spec.containers[*].image}'"),
    ],
  },
  {
    verb: "label and annotate",
    steps: [
      yaml(nodePool("label") + node("label-a") + node("label-b")),
      kubectl("label nodepool label tier=gold"),
      kubectl("label nodepool label tier=gold"),
      kubectl("label nodepool label tier=silver"),
      kubectl("label nodepool label tier=silver --overwrite"),
      kubectl("label nodepool label tier-"),
      kubectl("label nodepool label 'bad key=1'"),
      kubectl("label nodes label-a label-b zone=z1"),
      kubectl("get nodes -l zone=z1 -o name"),
      kubectl("annotate node label-a note='two words'"),
      kubectl("annotate node label-a note-"),
      kubectl("annotate nodepool label fettle.dev/note=x --resource-version=1"),
    ],
  },
  {
    verb: "cordon, taint and drain",
    steps: [
      yaml(namespace("drain") + node("drain-a") + node("drain-b")),
      {
        args: ["apply", "-n", "drain", "-f", "-"],
        input: pod("one", "nodeName: drain-a") + pod("two", "nodeName: drain-a") + pod("other", "nodeName: drain-b"),
      },
      kubectl("cordon drain-a"),
      kubectl("cordon drain-a"),
      kubectl("get node drain-a"),
      kubectl("uncordon drain-a"),
      kubectl("uncordon drain-a"),
      kubectl("taint node drain-a dedicated=infra:NoSchedule"),
      kubectl("taint node drain-a dedicated=infra:NoSchedule"),
      kubectl("get node drain-a -o jsonpath='{.spec.taints}'"),
      kubectl("taint node drain-a dedicated-"),
      kubectl("taint node drain-a 'bad=:Nothing'"),
      kubectl("drain drain-a"),
      kubectl("drain drain-a --dry-run=server --force", { isUnordered: true }),
      kubectl("drain drain-a --force --grace-period=0 --timeout=20s", { isUnordered: true }),
      kubectl("get pods -n drain -o name"),
      kubectl("get node drain-a -o jsonpath='{.spec.unschedulable}'"),
      kubectl("drain drain-absent"),
    ],
  },
  {
    verb: "drain against a disruption budget",
    steps: [
      yaml(namespace("budget") + node("budget-a")),
      { args: ["apply", "-n", "budget", "-f", "-"], input: pod("one", "nodeName: budget-a") },
      kubectl("create poddisruptionbudget all -n budget --selector=app=one --min-available=1"),
      kubectl("drain budget-a --force --grace-period=0 --timeout=3s"),
      kubectl("get pods -n budget -o name"),
    ],
  },
  {
    verb: "scale",
    steps: [
      yaml(namespace("scale") + nodePool("scale", "\n  replicas: 1")),
      { args: ["apply", "-n", "scale", "-f", "-"], input: deployment("web") },
      kubectl("scale deployment web -n scale --replicas=5"),
      kubectl("scale deployment web -n scale --replicas=6 --current-replicas=4"),
      kubectl("get deployment web -n scale -o jsonpath='{.spec.replicas}'"),
      kubectl("get deployment web -n scale --subresource=scale"),
      kubectl("scale nodepool scale --replicas=3"),
      kubectl("get nodepool scale --subresource=scale"),
      kubectl("get nodepool scale -o jsonpath='{.spec.replicas}'"),
      kubectl("scale deployment absent -n scale --replicas=5"),
    ],
  },
  {
    verb: "delete and wait",
    steps: [
      yaml(
        namespace("delete") +
          nodePool("delete") +
          nodePool("delete-held") +
          nodePool("delete-many-a") +
          nodePool("delete-many-b"),
      ),
      { args: ["apply", "-n", "delete", "-f", "-"], input: pod("one") + pod("two") + pod("three") },
      kubectl("wait nodepool delete --for=jsonpath='{.spec.weight}'=10 --timeout=5s"),
      kubectl("wait nodepool delete --for=condition=Ready --timeout=1s"),
      kubectl("delete nodepool delete"),
      kubectl("delete nodepool delete"),
      kubectl("delete nodepool delete --ignore-not-found"),
      kubectl(`patch nodepool delete-held --type=merge -p '{"metadata":{"finalizers":["example.dev/hold"]}}'`),
      kubectl("delete nodepool delete-held --wait=false"),
      kubectl("get nodepool delete-held -o jsonpath='{.metadata.finalizers}'"),
      kubectl("delete nodepool delete-held --timeout=1s"),
      kubectl(`patch nodepool delete-held --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'`),
      kubectl("wait nodepool delete-held --for=delete --timeout=5s"),
      kubectl("delete nodepools delete-many-a delete-many-b --dry-run=server"),
      kubectl("label nodepools delete-many-a delete-many-b gone=soon"),
      kubectl("delete nodepools -l gone=soon"),
      kubectl("delete pod one -n delete --now"),
      kubectl("delete pods --all -n delete --grace-period=0 --force"),
      kubectl("get pods -n delete"),
      kubectl("delete -f - -n delete --ignore-not-found", { input: pod("one") }),
    ],
  },
  {
    verb: "explain",
    steps: [
      kubectl("explain nodepool.spec.repair"),
      kubectl("explain nodepool.spec"),
      kubectl("explain nodepool.spec.disruption.budgets"),
      kubectl("explain nodepool.spec.nothing"),
      kubectl("explain nodepool.spec --recursive"),
      kubectl("explain nodehealthcheck.spec"),
      kubectl("explain nodeaction.status --api-version=fettle.dev/v1alpha1"),
      kubectl("explain nodepool --api-version=karpenter.sh/v1beta1"),
      kubectl("explain things"),
    ],
  },
  {
    verb: "api-resources and api-versions",
    steps: [
      kubectl("api-resources --api-group=karpenter.sh -o wide"),
      kubectl("api-resources --api-group=fettle.dev"),
      kubectl("api-resources --api-group=remediation.medik8s.io"),
      kubectl("api-resources -o wide", { only: servedResources() }),
      kubectl("api-resources --namespaced=false -o name", { only: /karpenter|fettle|medik8s|^(nodes|namespaces)$/ }),
      kubectl("api-versions", { only: /^(v1|apps\/v1|policy\/v1|karpenter.*|fettle.*|remediation.*)$/ }),
    ],
  },
  {
    verb: "what the box does not do",
    steps: [
      yaml(namespace("refused")),
      { args: ["apply", "-n", "refused", "-f", "-"], input: pod("one") },
      { args: ["apply", "--server-side", "-f", "-"], input: nodePool("refused") },
      kubectl("logs one -n refused"),
      kubectl("exec one -n refused -- ls"),
      kubectl("create token default -n refused"),
      kubectl("auth whoami"),
      kubectl("auth can-i delete nodes"),
      kubectl("get clusterroles"),
      kubectl("get services -n refused"),
      kubectl("version -o json"),
      kubectl("cluster-info"),
    ],
  },
];

const ready = (name: string): Step =>
  kubectl(
    `patch pod ${name} -n budgets --subresource=status -p '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'`,
  );

/** What needs the controllers of a cluster. */
export const scenariosWithControllers: readonly Scenario[] = [
  {
    verb: "drain held back by a disruption budget",
    steps: [
      yaml(namespace("budgets") + node("budgets-a")),
      {
        args: ["apply", "-n", "budgets", "-f", "-"],
        input: (pod("one", "nodeName: budgets-a") + pod("two", "nodeName: budgets-a")).replaceAll(
          /app: \w+/g,
          "app: web",
        ),
      },
      ready("one"),
      ready("two"),
      kubectl("create poddisruptionbudget web -n budgets --selector=app=web --min-available=1"),
      kubectl("wait pdb web -n budgets --for=jsonpath={.status.disruptionsAllowed}=1 --timeout=30s"),
      kubectl("get pdb web -n budgets"),
      // One may go; for the other the drain waits until its time is over.
      kubectl("drain budgets-a --force --grace-period=0 --pod-selector=app=web --timeout=4s", { onlyCode: true }),
      kubectl("wait pdb web -n budgets --for=jsonpath={.status.currentHealthy}=1 --timeout=30s"),
      kubectl("get pdb web -n budgets -o jsonpath='{.status.disruptionsAllowed} {.status.expectedPods}'"),
      kubectl("get pods -n budgets -o name", { onlyCode: true }),
    ],
  },
  {
    verb: "delete with owners",
    steps: [
      yaml(namespace("owners")),
      { args: ["apply", "-n", "owners", "-f", "-"], input: pod("loose") },
      kubectl("create configmap settings -n owners --from-literal=a=1"),
      kubectl("delete configmap settings -n owners --cascade=foreground"),
      kubectl("delete namespace owners --timeout=60s"),
      kubectl("get namespace owners"),
      kubectl("get pods -n owners"),
    ],
  },
];

/** Those of the built-in kinds that the box serves. */
function servedResources(): RegExp {
  const names = [
    "configmaps",
    "csinodes",
    "customresourcedefinitions",
    "daemonsets",
    "deployments",
    "events",
    "jobs",
    "leases",
    "namespaces",
    "nodes",
    "persistentvolumeclaims",
    "persistentvolumes",
    "poddisruptionbudgets",
    "pods",
    "priorityclasses",
    "replicasets",
    "secrets",
    "serviceaccounts",
    "statefulsets",
    "storageclasses",
    "volumeattachments",
  ];
  return new RegExp(`^(NAME|${names.join("|")})\\s`);
}
