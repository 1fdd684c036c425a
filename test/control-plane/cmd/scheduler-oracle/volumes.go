package main

import (
	"context"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// captureBinder keeps hold of the volume binder that the framework is going to make.
func captureBinder(registry frameworkruntime.Registry) *volumebinding.SchedulerVolumeBinder {
	var binder volumebinding.SchedulerVolumeBinder
	factory := registry[volumebinding.Name]
	registry[volumebinding.Name] = func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		made, err := factory(ctx, args, handle)
		if plugin, is := made.(*volumebinding.VolumeBinding); is {
			binder = plugin.Binder
		}
		return made, err
	}
	return &binder
}

// The binder's own caches hear of claims and volumes some time after the informers have synced, and have no way to say
// that they did: so each claim is asked for until it and its volume are known.
func waitForVolumes(ctx context.Context, w *world, binder volumebinding.SchedulerVolumeBinder) error {
	for _, claim := range w.Claims {
		hasVolume := slices.ContainsFunc(w.Volumes, func(volume *v1.PersistentVolume) bool {
			return volume.Name == claim.Spec.VolumeName
		})
		for !knows(ctx, binder, claim, hasVolume) {
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

func knows(ctx context.Context, binder volumebinding.SchedulerVolumeBinder, claim *v1.PersistentVolumeClaim, hasVolume bool) bool {
	logger := klog.FromContext(ctx)
	source := v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}}
	probe := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "probe", Namespace: claim.Namespace},
		Spec:       v1.PodSpec{Volumes: []v1.Volume{{Name: "probe", VolumeSource: source}}},
	}
	claims, err := binder.GetPodVolumeClaims(logger, probe)
	if err != nil || !hasVolume {
		// Any other error is about the claim's class, and stays.
		return err == nil || !strings.HasPrefix(err.Error(), "error getting PVC")
	}
	_, reasons, err := binder.FindPodVolumes(logger, probe, claims, &v1.Node{})
	return err == nil && !slices.Contains(reasons, volumebinding.ErrReasonPVNotExist)
}
