package main

import (
	"context"
	"encoding/json"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	core "k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
)

type world struct {
	Nodes          []*v1.Node                  `json:"nodes"`
	Bound          []*v1.Pod                   `json:"bound"`
	Pods           []*v1.Pod                   `json:"pods"`
	Namespaces     []*v1.Namespace             `json:"namespaces"`
	Claims         []*v1.PersistentVolumeClaim `json:"claims"`
	Volumes        []*v1.PersistentVolume      `json:"volumes"`
	StorageClasses []*storagev1.StorageClass   `json:"storageClasses"`
	CSINodes       []*storagev1.CSINode        `json:"csiNodes"`
}

func readWorld(line []byte) (*world, error) {
	read := &world{}
	if err := json.Unmarshal(line, read); err != nil {
		return nil, err
	}
	for _, object := range read.objects() {
		legacyscheme.Scheme.Default(object)
	}
	for _, pods := range [][]*v1.Pod{read.Bound, read.Pods} {
		for index, pod := range pods {
			stored, err := asStored(pod)
			if err != nil {
				return nil, err
			}
			pods[index] = stored
		}
	}
	return read, nil
}

// What the plugins see through listers; nodes and pods come to them by the scheduler's own cache.
func (w *world) objects() []runtime.Object {
	var objects []runtime.Object
	for _, one := range w.Namespaces {
		objects = append(objects, one)
	}
	for _, one := range w.Claims {
		objects = append(objects, one)
	}
	for _, one := range w.Volumes {
		objects = append(objects, one)
	}
	for _, one := range w.StorageClasses {
		objects = append(objects, one)
	}
	for _, one := range w.CSINodes {
		objects = append(objects, one)
	}
	return objects
}

// The scheduler reads matchLabelKeys of pod affinity, and some requests, only as the API server rewrites them when a
// pod is made.
func asStored(pod *v1.Pod) (*v1.Pod, error) {
	legacyscheme.Scheme.Default(pod)
	internal := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(pod, internal, nil); err != nil {
		return nil, err
	}
	podregistry.Strategy.PrepareForCreate(context.Background(), internal)
	stored := &v1.Pod{}
	if err := legacyscheme.Scheme.Convert(internal, stored, nil); err != nil {
		return nil, err
	}
	stored.Status = pod.Status
	if stored.UID == "" {
		stored.UID = types.UID(pod.Namespace + "/" + pod.Name)
	}
	return stored, nil
}
