// The objects of the scenarios, as a person would write them. Each ends with a separator, so that they can be joined.

export const namespace = (name: string): string => `
apiVersion: v1
kind: Namespace
metadata: {name: ${name}}
---`;

export const node = (name: string, more = ""): string => `
apiVersion: v1
kind: Node
metadata:
  name: ${name}
  labels: {kubernetes.io/hostname: ${name}, node-role.kubernetes.io/worker: "", suite: kubectl${more}}
spec: {providerID: "kwok://${name}"}
status:
  addresses: [{type: InternalIP, address: 10.0.0.7}]
  capacity: {cpu: "8", memory: 16Gi, pods: "110"}
  allocatable: {cpu: 7900m, memory: 15Gi, pods: "110"}
  nodeInfo: {architecture: amd64, bootID: b, containerRuntimeVersion: "containerd://2.0", kernelVersion: "6.1", kubeProxyVersion: "", kubeletVersion: v1.36.3, machineID: m, operatingSystem: linux, osImage: Debian 12, systemUUID: s}
  conditions:
  - {type: Ready, status: "True", reason: KubeletReady, message: kubelet is ready, lastHeartbeatTime: "2026-01-02T03:04:05Z", lastTransitionTime: "2026-01-02T03:04:05Z"}
---`;

export const pod = (name: string, more = ""): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: ${name}}}
spec:
  terminationGracePeriodSeconds: 0
  ${more}
  containers: [{name: main, image: "registry.example/app:1", resources: {requests: {cpu: 100m, memory: 64Mi}}}]
---`;

export const nodePool = (name: string, more = ""): string => `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: ${name}, labels: {suite: kubectl}}
spec:
  weight: 10
  disruption:
    consolidateAfter: 30s
    budgets: [{nodes: "20%"}]${more}
---`;

export const deployment = (name: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: 2
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec: {containers: [{name: main, image: "registry.example/app:1"}]}
---`;
