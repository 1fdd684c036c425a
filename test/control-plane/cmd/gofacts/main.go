// Prints what OpenAPI does not say about the Go types of the built-in kinds: which optional scalars are pointers (so
// that a zero value is kept when it is written), which fields print null when they are empty, and the names of types as
// they stand in decoding errors.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type facts struct {
	Pointers  []string          `json:"pointers,omitempty"`
	Null      []string          `json:"null,omitempty"`
	TypeNames map[string]string `json:"typeNames,omitempty"`
}

var roots = []any{
	corev1.Namespace{}, corev1.Node{}, corev1.Pod{}, corev1.Event{}, corev1.ConfigMap{}, corev1.Secret{},
	corev1.ServiceAccount{}, corev1.PersistentVolume{}, corev1.PersistentVolumeClaim{}, corev1.Binding{},
	eventsv1.Event{}, coordinationv1.Lease{}, policyv1.PodDisruptionBudget{}, policyv1.Eviction{},
	appsv1.Deployment{}, appsv1.ReplicaSet{}, appsv1.DaemonSet{}, appsv1.StatefulSet{}, batchv1.Job{},
	storagev1.StorageClass{}, storagev1.VolumeAttachment{}, storagev1.CSINode{}, schedulingv1.PriorityClass{},
	apiextensionsv1.CustomResourceDefinition{},
}

func main() {
	seen := map[string]*facts{}
	for _, root := range roots {
		walk(reflect.TypeOf(root), seen)
	}
	for name, found := range seen {
		if found.Pointers == nil && found.Null == nil && found.TypeNames == nil {
			delete(seen, name)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(seen); err != nil {
		panic(err)
	}
}

func walk(t reflect.Type, seen map[string]*facts) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		walk(t.Elem(), seen)
	case reflect.Struct:
		name := definitionName(t)
		if seen[name] != nil || isScalar(t) {
			return
		}
		seen[name] = &facts{}
		walkFields(t, seen[name], seen)
	}
}

func walkFields(t reflect.Type, found *facts, seen map[string]*facts) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && strings.Contains(options, "inline") || field.Anonymous && name == "" {
			walkFields(field.Type, found, seen) // its fields stand in the outer definition
			continue
		}
		if name == "" || name == "-" {
			continue // written by the type's own code
		}
		note(found, name, options, field.Type)
		walk(field.Type, seen)
	}
}

func note(found *facts, name, options string, t reflect.Type) {
	omitted := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
	if t.Kind() == reflect.Pointer && isScalar(t.Elem()) {
		found.Pointers = append(found.Pointers, name)
	}
	if !omitted && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
		found.Null = append(found.Null, name)
	}
	// encoding/json never finds a struct empty: a zero time is written as null unless the tag says omitzero.
	if strings.HasSuffix(t.Name(), "Time") && t.Kind() == reflect.Struct && !strings.Contains(options, "omitzero") {
		found.Null = append(found.Null, name)
	}
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
		t = t.Elem()
	}
	isNamed := t.PkgPath() != "" && (isScalar(t) && t.Kind() != reflect.Struct || t.Kind() == reflect.Map)
	if isNamed {
		if found.TypeNames == nil {
			found.TypeNames = map[string]string{}
		}
		found.TypeNames[name] = t.String()
	}
}

func isScalar(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64, reflect.Uint8:
		return true
	}
	switch t.Name() {
	case "Time", "MicroTime", "Quantity", "IntOrString":
		return true
	}
	return false
}

func definitionName(t reflect.Type) string {
	return "io." + strings.ReplaceAll(strings.Replace(t.PkgPath(), "k8s.io", "k8s", 1), "/", ".") + "." + t.Name()
}
