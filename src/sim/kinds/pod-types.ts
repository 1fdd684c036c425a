// The fields of pods and pod templates that defaults, validation and columns look at, as they are after decoding.

import type { KubeObject } from "../../api/meta.ts";
import type { LabelSelector } from "../../api/selector.ts";
import type { Affinity } from "./affinity-rules.ts";

export type Resources = { limits?: Record<string, string>; requests?: Record<string, string>; claims?: unknown[] };

export type Handler = {
  exec?: { command?: string[] };
  httpGet?: { path?: string; port: number | string; host?: string; scheme?: string; httpHeaders?: { name: string }[] };
  tcpSocket?: { port: number | string };
  grpc?: { port: number; service?: string | null };
  sleep?: { seconds: number };
};

export type Probe = Handler & {
  initialDelaySeconds?: number;
  timeoutSeconds?: number;
  periodSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
  terminationGracePeriodSeconds?: number;
};

export type ContainerPort = {
  name?: string;
  containerPort: number;
  hostPort?: number;
  hostIP?: string;
  protocol: string;
};

export type EnvironmentVariable = {
  name: string;
  value?: string;
  valueFrom?: {
    fieldRef?: { apiVersion?: string; fieldPath: string };
    resourceFieldRef?: { containerName?: string; resource: string; divisor?: string };
    configMapKeyRef?: { name?: string; key: string };
    secretKeyRef?: { name?: string; key: string };
    fileKeyRef?: { volumeName: string; path: string; key: string };
  };
};

export type VolumeMount = {
  name: string;
  mountPath: string;
  readOnly?: boolean;
  subPath?: string;
  subPathExpr?: string;
};

export type Container = {
  name: string;
  image?: string;
  imagePullPolicy?: string;
  terminationMessagePath?: string;
  terminationMessagePolicy?: string;
  ports?: ContainerPort[];
  env?: EnvironmentVariable[];
  envFrom?: { prefix?: string; configMapRef?: { name?: string }; secretRef?: { name?: string } }[];
  resources: Resources;
  resizePolicy?: { resourceName: string; restartPolicy: string }[];
  volumeMounts?: VolumeMount[];
  volumeDevices?: { name: string; devicePath: string }[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  startupProbe?: Probe;
  lifecycle?: { postStart?: Handler; preStop?: Handler };
  restartPolicy?: string;
  securityContext?: Record<string, unknown>;
  stdin?: boolean;
  tty?: boolean;
};

type Keyed = { defaultMode?: number; items?: { key?: string; path: string }[] };

export type DownwardItem = { path: string; fieldRef?: { apiVersion?: string; fieldPath: string } };

export type Volume = {
  name: string;
  emptyDir?: { medium?: string; sizeLimit?: string };
  hostPath?: { path: string; type?: string };
  secret?: Keyed & { secretName?: string };
  configMap?: Keyed & { name?: string };
  downwardAPI?: { defaultMode?: number; items?: DownwardItem[] };
  projected?: {
    defaultMode?: number;
    sources?:
      | {
          serviceAccountToken?: { expirationSeconds?: number; path: string };
          downwardAPI?: { items?: DownwardItem[] };
        }[]
      | null;
  };
  persistentVolumeClaim?: { claimName: string };
  ephemeral?: { volumeClaimTemplate?: { spec: { volumeMode?: string } } };
  image?: { reference?: string; pullPolicy?: string };
  iscsi?: { iscsiInterface?: string };
  rbd?: { pool?: string; user?: string; keyring?: string };
  azureDisk?: { cachingMode?: string; kind?: string; fsType?: string; readOnly?: boolean };
  scaleIO?: { storageMode?: string; fsType?: string };
};

export type Toleration = {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
};

export type PodSpec = {
  containers: Container[] | null;
  initContainers?: Container[];
  ephemeralContainers?: Container[];
  volumes?: Volume[];
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  restartPolicy?: string;
  dnsPolicy?: string;
  dnsConfig?: { nameservers?: string[] };
  securityContext?: Record<string, unknown>;
  schedulerName?: string;
  terminationGracePeriodSeconds?: number;
  activeDeadlineSeconds?: number;
  enableServiceLinks?: boolean;
  hostNetwork?: boolean;
  serviceAccountName?: string;
  serviceAccount?: string;
  priorityClassName?: string;
  priority?: number;
  preemptionPolicy?: string;
  tolerations?: Toleration[];
  readinessGates?: { conditionType: string }[];
  schedulingGates?: { name: string }[];
  topologySpreadConstraints?: {
    maxSkew: number;
    topologyKey: string;
    whenUnsatisfiable: string;
    labelSelector?: LabelSelector;
    minDomains?: number;
  }[];
  affinity?: Affinity;
  imagePullSecrets?: { name?: string }[];
  hostname?: string;
  subdomain?: string;
  resources?: Resources;
  os?: { name: string };
};

export type ContainerStatus = {
  name: string;
  ready: boolean;
  started?: boolean;
  restartCount: number;
  state: {
    running?: { startedAt: string | null };
    waiting?: { reason?: string };
    terminated?: { exitCode: number; signal?: number; reason?: string; finishedAt: string | null };
  };
  lastState: ContainerStatus["state"];
};

export type PodStatus = {
  phase?: string;
  reason?: string;
  qosClass?: string;
  conditions?: {
    type: string;
    status: string;
    lastProbeTime?: string | null;
    lastTransitionTime?: string | null;
    reason?: string;
    message?: string;
    observedGeneration?: number;
  }[];
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
  podIP?: string;
  podIPs?: { ip: string }[];
  nominatedNodeName?: string;
  observedGeneration?: number;
};

export type Pod = KubeObject & { spec: PodSpec; status: PodStatus };

export type PodTemplate = {
  metadata: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: PodSpec;
};
