// Prints the protobuf messages of the built-in kinds (but for CustomResourceDefinition, which nobody sends so) as their Go struct tags declare them: for each message and field
// number the JSON name and the type. kubectl sends the objects of its generators (kubectl create …) in this form.
package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var roots = []any{
	corev1.Namespace{}, corev1.Node{}, corev1.Pod{}, corev1.Event{}, corev1.ConfigMap{}, corev1.Secret{},
	corev1.ServiceAccount{}, corev1.PersistentVolume{}, corev1.PersistentVolumeClaim{}, corev1.Binding{},
	eventsv1.Event{}, coordinationv1.Lease{}, policyv1.PodDisruptionBudget{}, policyv1.Eviction{},
	appsv1.Deployment{}, appsv1.ReplicaSet{}, appsv1.DaemonSet{}, appsv1.StatefulSet{}, batchv1.Job{},
	storagev1.StorageClass{}, storagev1.VolumeAttachment{}, storagev1.CSINode{}, schedulingv1.PriorityClass{},
	autoscalingv1.Scale{}, metav1.DeleteOptions{},
}

// These are written in a form of their own, which the reader of the messages knows.
var ownForm = map[string]bool{
	"meta.v1.Time": true, "meta.v1.MicroTime": true, "meta.v1.FieldsV1": true,
	"api.resource.Quantity": true, "util.intstr.IntOrString": true,
}

func main() {
	messages := map[string]map[string]string{}
	for _, root := range roots {
		walk(reflect.TypeOf(root), messages)
	}
	lines := []string{}
	for name, fields := range messages {
		text, err := json.Marshal(fields)
		if err != nil {
			panic(err)
		}
		lines = append(lines, fmt.Sprintf("%q:%s", name, text))
	}
	sort.Strings(lines)
	fmt.Printf("{\n%s\n}\n", strings.Join(lines, ",\n"))
}

func walk(t reflect.Type, messages map[string]map[string]string) {
	name := messageName(t)
	if messages[name] != nil {
		return
	}
	fields := map[string]string{}
	messages[name] = fields
	for i := range t.NumField() {
		field := t.Field(i)
		tag := strings.Split(field.Tag.Get("protobuf"), ",")
		if len(tag) < 2 {
			continue // apiVersion and kind: the envelope has them
		}
		jsonName, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		fields[tag[1]] = jsonName + ":" + typeOf(field.Type, messages) // no name: its fields stand in the outer object
	}
}

func typeOf(t reflect.Type, messages map[string]map[string]string) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return typeOf(t.Elem(), messages)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return "bytes"
	case t.Kind() == reflect.Slice:
		return "[]" + typeOf(t.Elem(), messages)
	case t.Kind() == reflect.Map:
		return "{}" + typeOf(t.Elem(), messages)
	case t.Kind() == reflect.Struct:
		name := messageName(t)
		if !ownForm[name] {
			walk(t, messages)
		}
		return name
	}
	return t.Kind().String()
}

func messageName(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	return strings.Join(parts[len(parts)-2:], ".") + "." + t.Name()
}
