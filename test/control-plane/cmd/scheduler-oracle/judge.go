package main

import (
	"context"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// The filters of the default profile; the two others are what a profile cannot be without.
var enabled = []string{
	names.PrioritySort, names.DefaultBinder,
	names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity, names.NodePorts,
	names.NodeResourcesFit, names.VolumeRestrictions, names.NodeVolumeLimits, names.VolumeBinding, names.VolumeZone,
	names.PodTopologySpread, names.InterPodAffinity,
}

func judge(ctx context.Context, w *world) (map[string]map[string]string, error) {
	snapshot, err := takeSnapshot(ctx, w)
	if err != nil {
		return nil, err
	}
	scheduler, err := newFramework(ctx, w, snapshot)
	if err != nil {
		return nil, err
	}
	found := map[string]map[string]string{}
	for _, pod := range w.Pods {
		troubles, err := judgePod(ctx, scheduler, pod)
		if err != nil {
			return nil, err
		}
		found[pod.Namespace+"/"+pod.Name] = troubles
	}
	return found, nil
}

// As the scheduler's informers fill its cache: pods that have ended are never seen.
func takeSnapshot(ctx context.Context, w *world) (*internalcache.Snapshot, error) {
	logger := klog.FromContext(ctx)
	cache := internalcache.New(ctx, nil, false)
	for _, node := range w.Nodes {
		cache.AddNode(logger, node)
	}
	for _, pod := range w.Bound {
		if pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed {
			continue
		}
		if err := cache.AddPod(logger, pod); err != nil {
			return nil, err
		}
	}
	snapshot := internalcache.NewEmptySnapshot()
	return snapshot, cache.UpdateSnapshot(logger, snapshot)
}

func newFramework(ctx context.Context, w *world, snapshot *internalcache.Snapshot) (framework.Framework, error) {
	profile, err := filterProfile()
	if err != nil {
		return nil, err
	}
	client := fake.NewSimpleClientset(w.objects()...)
	factory := informers.NewSharedInformerFactory(client, 0)
	registry := plugins.NewInTreeRegistry()
	binder := captureBinder(registry)
	scheduler, err := frameworkruntime.NewFramework(ctx, registry, profile,
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithParallelism(1),
	)
	if err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return scheduler, waitForVolumes(ctx, w, *binder)
}

func filterProfile() (*config.KubeSchedulerProfile, error) {
	configuration, err := latest.Default()
	if err != nil {
		return nil, err
	}
	profile := configuration.Profiles[0]
	profile.Plugins = &config.Plugins{}
	for _, name := range enabled {
		profile.Plugins.MultiPoint.Enabled = append(profile.Plugins.MultiPoint.Enabled, config.Plugin{Name: name, Weight: 1})
	}
	return &profile, nil
}

func judgePod(ctx context.Context, scheduler framework.Framework, pod *v1.Pod) (map[string]string, error) {
	nodes, err := scheduler.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil, err
	}
	state := framework.NewCycleState()
	allowed, status, _ := scheduler.RunPreFilterPlugins(ctx, state, pod)
	troubles := map[string]string{}
	for _, node := range nodes {
		name := node.Node().Name
		switch {
		case !status.IsSuccess():
			troubles[name] = trouble(status)
		case !allowed.AllNodes() && !allowed.NodeNames.Has(name):
			troubles[name] = "NodeAffinity: another node by name"
		default:
			troubles[name] = trouble(scheduler.RunFilterPlugins(ctx, state, pod, node))
		}
	}
	return troubles, nil
}

func trouble(status *fwk.Status) string {
	if status.IsSuccess() {
		return ""
	}
	return fmt.Sprintf("%s: %s", status.Plugin(), strings.Join(status.Reasons(), ", "))
}
