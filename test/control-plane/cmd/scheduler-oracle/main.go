// Answers, for worlds on stdin (one JSON object a line), on which nodes kube-scheduler's own filter plugins would let
// each pending pod go. Pods are first made what the API server would store; nothing is ever placed.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// answer has for each pending pod ("namespace/name") what keeps it from each node: "" where nothing does.
type answer struct {
	Pods  map[string]map[string]string `json:"pods,omitempty"`
	Error string                       `json:"error,omitempty"`
}

func main() {
	workers := flag.Int("workers", 4, "worlds that are judged side by side")
	flag.Parse()
	klog.SetLogger(klog.Logger{})
	metrics.Register()
	if err := answerAll(*workers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Answers leave in the order of the questions, however long each takes.
func answerAll(workers int) error {
	pending := make(chan chan answer, workers)
	var done sync.WaitGroup
	done.Add(1)
	var failure error
	go func() {
		defer done.Done()
		out := bufio.NewWriter(os.Stdout)
		encoder := json.NewEncoder(out)
		for one := range pending {
			if err := encoder.Encode(<-one); err != nil && failure == nil {
				failure = err
			}
		}
		if err := out.Flush(); err != nil && failure == nil {
			failure = err
		}
	}()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		line := append([]byte(nil), lines.Bytes()...)
		one := make(chan answer, 1)
		pending <- one
		go func() { one <- answerOne(line) }()
	}
	close(pending)
	done.Wait()
	if err := lines.Err(); err != nil {
		return err
	}
	return failure
}

func answerOne(line []byte) answer {
	world, err := readWorld(line)
	if err != nil {
		return answer{Error: err.Error()}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pods, err := judge(ctx, world)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Pods: pods}
}
