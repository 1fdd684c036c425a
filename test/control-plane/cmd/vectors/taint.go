package main

import (
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// tolerations: [toleration, tolerated taints as bits, the same with TaintTolerationComparisonOperators on].
func tolerations(*rand.Rand) any {
	var taints []corev1.Taint
	for _, effect := range []corev1.TaintEffect{"NoSchedule", "NoExecute"} {
		for _, value := range []string{"", "v", "5", "05", "-5", "9223372036854775807", "9223372036854775808"} {
			taints = append(taints, corev1.Taint{Key: "k", Value: value, Effect: effect})
		}
	}
	taints = append(taints, corev1.Taint{Key: "other", Value: "v", Effect: "PreferNoSchedule"})

	var cases [][]any
	for _, key := range []string{"", "k", "K"} {
		for _, operator := range []corev1.TolerationOperator{"", "Equal", "Exists", "Lt", "Gt", "exists"} {
			for _, value := range []string{"", "v", "4", "5", "6", "+6", "06", "-6", "0", "9223372036854775807", "-9223372036854775808", "x"} {
				for _, effect := range []corev1.TaintEffect{"", "NoSchedule", "NoExecute", "PreferNoSchedule"} {
					toleration := corev1.Toleration{Key: key, Operator: operator, Value: value, Effect: effect}
					cases = append(cases, []any{toleration, tolerated(toleration, taints, false), tolerated(toleration, taints, true)})
				}
			}
		}
	}
	return map[string]any{"taints": taints, "cases": cases}
}

func tolerated(toleration corev1.Toleration, taints []corev1.Taint, comparison bool) int {
	bits := 0
	for index := range taints {
		if toleration.ToleratesTaint(klog.Logger{}, &taints[index], comparison) {
			bits |= 1 << index
		}
	}
	return bits
}
